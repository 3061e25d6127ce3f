import type { Request, Router } from 'express';
import { findRepository } from './pull-routes.ts';
import { Refused } from './refused.ts';
import { blobSha, contentShape } from './shapes.ts';
import type { GitHubState, Token } from './state.ts';

/** Above this size, GitHub omits the content of a file. */
const MAX_CONTENT_BYTES = 1024 * 1024;

/** Contents, blobs and users: https://docs.github.com/rest */
export function otherRoutes(api: Router, { state, who }: { state: GitHubState; who: (req: Request) => Token }): void {
  api.get('/repos/:owner/:name/contents/*path', (req, res) => {
    who(req);
    const repository = findRepository(state, req.params.owner, req.params.name);
    const path = [req.params.path].flat().join('/');
    const files = repository.branches.get(String(req.query.ref ?? 'main'))?.files ?? {};
    const content = files[path];
    const folder = Object.keys(files).filter((each) => each.startsWith(`${path}/`));
    if (content === undefined && folder.length > 0)
      return res.json(folder.map((each) => ({ type: 'file', path: each })));
    if (content === undefined) throw new Refused(404, 'Not Found');
    return res.json(contentShape(path, content, Buffer.byteLength(content) <= MAX_CONTENT_BYTES));
  });

  api.get('/repos/:owner/:name/git/blobs/:sha', (req, res) => {
    who(req);
    const { branches } = findRepository(state, req.params.owner, req.params.name);
    const contents = [...branches.values()].flatMap(({ files }) => Object.values(files));
    const content = contents.find((each) => blobSha(each) === req.params.sha);
    if (content === undefined) throw new Refused(404, 'Not Found');
    res.json({ sha: req.params.sha, encoding: 'base64', content: Buffer.from(content).toString('base64') });
  });

  api.get('/users/:login', (req, res) => {
    who(req);
    const account = state.accounts.find(({ login }) => login.toLowerCase() === req.params.login.toLowerCase());
    if (!account) throw new Refused(404, 'Not Found');
    res.json(account);
  });

  // Like GitHub's search, it matches prefixes and returns no email addresses.
  api.get('/search/users', (req, res) => {
    who(req);
    const [, mail = ''] = /^(\S+) in:email$/.exec(String(req.query.q)) ?? [];
    if (mail === '') throw new Refused(422, 'Validation Failed', [{ resource: 'Search', field: 'q', code: 'missing' }]);
    const found = state.accounts.filter(({ email }) => email?.toLowerCase().startsWith(mail.toLowerCase()));
    const items = found.map(({ login }) => ({ login, score: 1 })).slice(0, Number(req.query.per_page ?? 30));
    res.json({ total_count: found.length, incomplete_results: false, items });
  });
}
