import type { Router } from 'express';
import express, { type ErrorRequestHandler, type Request } from 'express';
import { startHttpSite } from '../http-site.ts';
import { type GitHubApp, isSignedByApp, makeApp } from './app.ts';
import { findRepository, pullRoutes } from './pull-routes.ts';
import { Refused } from './refused.ts';
import { blobSha, contentShape, errorShape, installationTokenShape } from './shapes.ts';
import { emptyState, type GitHubState, type Token } from './state.ts';

export type Call = { method: string; path: string; query: string; authorization: string };
type Planned = { path: RegExp; status: number; headers?: Record<string, string>; body?: unknown };

export type TestGitHub = {
  /** The URL of the web pages. The API is at /api/v3, as on an Enterprise server. */
  url: string;
  state: GitHubState;
  app: GitHubApp;
  calls: Call[];
  /** Replaces the response to the next call of this path. */
  answerNext(planned: Planned): void;
  stop(): Promise<void>;
};

/**
 * A fake of the part of GitHub's API that the forge adapter uses, over real HTTP, because tests can't use github.com. Its
 * responses are typed by GitHub's published schema (shapes.ts), and its errors follow GitHub's documentation.
 */
export async function startGitHub(): Promise<TestGitHub> {
  const state = emptyState();
  const app = makeApp();
  const calls: Call[] = [];
  const planned: Planned[] = [];
  const router = express();
  const { origin: url, close } = await startHttpSite(router);

  router.set('etag', false);
  router.use((req, res, next) => {
    const { pathname, search } = new URL(req.originalUrl, url);
    calls.push({ method: req.method, path: pathname, query: search, authorization: req.headers.authorization ?? '' });
    const index = planned.findIndex(({ path }) => path.test(pathname));
    const [response] = index < 0 ? [] : planned.splice(index, 1);
    if (!response) return next();
    res.status(response.status).set(response.headers ?? {});
    return typeof response.body === 'string' ? res.send(response.body) : res.json(response.body ?? {});
  });
  router.use(express.json({ limit: '1mb' }));

  const api = express.Router();
  api.get('/repos/:owner/:name/installation', (req, res) => {
    const id = app.installations.get(`${req.params.owner}/${req.params.name}`);
    if (!isSignedByApp(req, app)) throw new Refused(401, 'A JSON web token could not be decoded');
    if (id === undefined) throw new Refused(404, 'Not Found');
    res.json({ id, app_id: app.id, account: { login: req.params.owner } });
  });
  api.get('/app/installations', (req, res) => {
    if (!isSignedByApp(req, app)) throw new Refused(401, 'A JSON web token could not be decoded');
    res.json([...app.installations.values()].slice(0, 1).map((id) => ({ id, app_id: app.id })));
  });
  api.post('/app/installations/:id/access_tokens', (req, res) => {
    if (!isSignedByApp(req, app)) throw new Refused(401, 'A JSON web token could not be decoded');
    if (![...app.installations.values()].includes(Number(req.params.id))) throw new Refused(404, 'Not Found');
    const token = `ghs_${calls.length}_of_${req.params.id}`;
    state.tokens.set(token, { login: app.login, rights: 'write' });
    res.status(201).json(installationTokenShape(token, new Date(Date.now() + app.tokenLifeMs).toISOString()));
  });
  const who = (req: Request): Token => {
    const token = /^(?:token|bearer) (.+)$/i.exec(req.headers.authorization ?? '')?.[1];
    const known = token === undefined ? undefined : state.tokens.get(token);
    if (!known) throw new Refused(401, 'Bad credentials');
    if (known.rights === 'none') throw new Refused(403, 'Resource not accessible by personal access token');
    return known;
  };
  pullRoutes(api, { state, webUrl: url, who });
  otherRoutes(api, { state, who });
  router.use('/api/v3', api);
  router.use((req) => {
    throw new Refused(404, `Not Found: ${req.method} ${req.path}`);
  });
  const onError: ErrorRequestHandler = (error: unknown, _req, res, _next) => {
    const { status, message, errors } = error instanceof Refused ? error : new Refused(500, String(error));
    res.status(status).json(errorShape(status, message, errors));
  };
  router.use(onError);

  return {
    url,
    state,
    app,
    calls,
    answerNext: (response) => planned.push(response),
    stop: close,
  };
}

/** Above this size, GitHub omits the content of a file. */
const MAX_CONTENT_BYTES = 1024 * 1024;

/** Contents, blobs and users: https://docs.github.com/rest */
function otherRoutes(api: Router, { state, who }: { state: GitHubState; who: (req: Request) => Token }): void {
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
