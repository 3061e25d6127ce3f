import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { Refused } from './refused.ts';
import { fileShape, pullShape, reviewShape } from './shapes.ts';
import { changedFiles, type GitHubState, type Pull, type Repository, type Token } from './state.ts';

/** GitHub lists at most this many changed files. */
const MAX_FILES = 3000;

const newPull = z.object({ title: z.string(), head: z.string(), base: z.string(), body: z.string().optional() });
const change = z.object({
  title: z.string().optional(),
  body: z.string().optional(),
  state: z.enum(['open', 'closed']).optional(),
});
const reviewRequest = z.object({
  reviewers: z.array(z.string()).default([]),
  team_reviewers: z.array(z.string()).default([]),
});

export function findRepository(state: GitHubState, owner: unknown, name: unknown): Repository {
  const repository = state.repositories.find((each) => each.owner === owner && each.name === name);
  if (!repository) throw new Refused(404, 'Not Found');
  return repository;
}

/** https://docs.github.com/rest/pulls */
export function pullRoutes(
  api: Router,
  { state, webUrl, who }: { state: GitHubState; webUrl: string; who: (req: Request) => Token },
): void {
  const repositoryOf = (req: Request): Repository => findRepository(state, req.params.owner, req.params.name);
  const pullOf = (req: Request): Pull => {
    const pull = repositoryOf(req).pulls.find(({ number }) => String(number) === req.params.number);
    if (!pull) throw new Refused(404, 'Not Found');
    return pull;
  };
  const pulls = '/repos/:owner/:name/pulls';

  api.get(pulls, (req, res) => {
    who(req);
    const repository = repositoryOf(req);
    const { head, state: requestedState = 'open' } = req.query;
    const found = repository.pulls
      .filter((pull) => requestedState === 'all' || pull.state === requestedState)
      .filter((pull) => head === undefined || head === `${repository.owner}:${pull.head}`)
      .sort((one, other) => other.number - one.number);
    sendPage(
      req,
      res,
      found.map((pull) => pullShape(webUrl, repository, pull)),
    );
  });

  api.post(pulls, (req, res) => {
    const { login } = who(req);
    const repository = repositoryOf(req);
    const { title, head, base, body = '' } = newPull.parse(req.body);
    const invalid = (errors: readonly object[]) => new Refused(422, 'Validation Failed', errors);
    const field = (name: string) => ({ resource: 'PullRequest', field: name, code: 'invalid' });
    if (title.length > 256) throw invalid([{ resource: 'Issue', field: 'title', code: 'too_long' }]);
    if (body.length > 65_536) throw invalid([{ resource: 'Issue', field: 'body', code: 'too_long' }]);
    const headBranch = repository.branches.get(head);
    if (!headBranch) throw invalid([field('head')]);
    if (!repository.branches.has(base)) throw invalid([field('base')]);
    const open = repository.pulls.some((pull) => pull.state === 'open' && pull.head === head && !pull.fromFork);
    if (open) {
      const message = `A pull request already exists for ${repository.owner}:${head}.`;
      throw invalid([{ resource: 'PullRequest', code: 'custom', message }]);
    }
    const pull: Pull = {
      ...{ number: repository.pulls.length + 1, title, body, author: login, state: 'open', head, base },
      ...{ fromFork: false, headSha: headBranch.sha, mergedAt: null, mergeCommitSha: null },
      ...{ reviewers: new Set(), teams: new Set(), reviews: [] },
    };
    repository.pulls.push(pull);
    res.status(201).json(pullShape(webUrl, repository, pull));
  });

  api.get(`${pulls}/:number`, (req, res) => {
    who(req);
    res.json(pullShape(webUrl, repositoryOf(req), pullOf(req)));
  });

  api.patch(`${pulls}/:number`, (req, res) => {
    who(req);
    const pull = Object.assign(pullOf(req), change.parse(req.body));
    res.json(pullShape(webUrl, repositoryOf(req), pull));
  });

  api.get(`${pulls}/:number/files`, (req, res) => {
    who(req);
    const files = changedFiles(repositoryOf(req), pullOf(req)).slice(0, MAX_FILES);
    sendPage(req, res, files.map(fileShape));
  });

  api.get(`${pulls}/:number/reviews`, (req, res) => {
    who(req);
    sendPage(req, res, pullOf(req).reviews.map(reviewShape));
  });

  api.post(`${pulls}/:number/requested_reviewers`, (req, res) => {
    who(req);
    const [repository, pull] = [repositoryOf(req), pullOf(req)];
    const { reviewers, team_reviewers: teams } = reviewRequest.parse(req.body);
    if (reviewers.includes(pull.author)) {
      throw new Refused(422, 'Review cannot be requested from pull request author.');
    }
    const strangers = [
      ...reviewers.filter((login) => !repository.collaborators.includes(login)),
      ...teams.filter((slug) => !repository.teams?.includes(slug)),
    ];
    if (strangers.length > 0) {
      const which = `is not a collaborator of the ${repository.owner}/${repository.name} repository`;
      const message = `Reviews may only be requested from collaborators. One or more of the users or teams you specified ${which}.`;
      throw new Refused(422, message);
    }
    for (const login of reviewers) pull.reviewers.add(login);
    for (const slug of teams) pull.teams.add(slug);
    res.status(201).json(pullShape(webUrl, repository, pull));
  });
}

/** One page of a list with GitHub's `Link`: by `page` and `per_page`, at most 100. */
function sendPage(req: Request, res: Response, items: readonly unknown[]): void {
  const perPage = Math.min(100, Number(req.query.per_page ?? 30));
  const page = Number(req.query.page ?? 1);
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const pageLink = (to: number): string => {
    // The public URL: behind a proxy, an Enterprise server may see another host name.
    const url = new URL(req.originalUrl, 'https://github.seen-from-outside.example');
    url.searchParams.set('page', String(to));
    return url.href;
  };
  if (page < last) res.set('Link', `<${pageLink(page + 1)}>; rel="next", <${pageLink(last)}>; rel="last"`);
  res.json(items.slice((page - 1) * perPage, page * perPage));
}
