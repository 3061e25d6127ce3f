import type { Response, Router } from 'express';
import express, { type ErrorRequestHandler, type Request } from 'express';
import { z } from 'zod';
import { startHttpSite } from '../http-site.ts';
import { type GitHubApp, isSignedByApp, makeApp } from './app.ts';
import {
  blobSha,
  contentShape,
  errorShape,
  fileShape,
  installationTokenShape,
  pullShape,
  reviewCommentShape,
  reviewShape,
} from './shapes.ts';
import {
  changedFiles,
  emptyState,
  type GitHubState,
  type Pull,
  type Repository,
  type SubmittedReview,
  type Token,
} from './state.ts';

/** Thrown by the routes if GitHub would reject the request. */
class Refused extends Error {
  readonly status: number;
  readonly errors: readonly object[] | undefined;

  constructor(status: number, message: string, errors?: readonly object[]) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

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

function findRepository(state: GitHubState, owner: unknown, name: unknown): Repository {
  const repository = state.repositories.find((each) => each.owner === owner && each.name === name);
  if (!repository) throw new Refused(404, 'Not Found');
  return repository;
}

/** https://docs.github.com/rest/pulls */
function pullRoutes(
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
    sendPage(
      req,
      res,
      pullOf(req).reviews.map((review, index) => reviewShape(review, index + 1)),
    );
  });

  const reviewOf = (req: Request): SubmittedReview => {
    const review = pullOf(req).reviews[Number(req.params.id) - 1];
    if (!review) throw new Refused(404, 'Not Found');
    return review;
  };

  api.get(`${pulls}/:number/reviews/:id`, (req, res) => {
    who(req);
    res.json(reviewShape(reviewOf(req), Number(req.params.id)));
  });

  api.get(`${pulls}/:number/reviews/:id/comments`, (req, res) => {
    who(req);
    sendPage(req, res, (reviewOf(req).text?.comments ?? []).map(reviewCommentShape));
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
