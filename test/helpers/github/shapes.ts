import { createHash } from 'node:crypto';
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { ReviewText } from '../../../forge/forge.ts';
import type { changedFiles, Pull, Repository, SubmittedReview } from './state.ts';

/** Responses in GitHub's format. The fields are picked from its published schema, which octokit has as types. */

type ResponseData<
  Group extends keyof RestEndpointMethodTypes,
  Method extends keyof RestEndpointMethodTypes[Group],
> = RestEndpointMethodTypes[Group][Method] extends { response: { data: infer Data } } ? Data : never;

type FullPull = ResponseData<'pulls', 'get'>;
type Shape = Pick<FullPull, 'html_url' | 'number' | 'state' | 'title' | 'body' | 'merged_at' | 'merge_commit_sha'> & {
  user: Pick<FullPull['user'], 'login'>;
  head: Pick<FullPull['head'], 'label' | 'ref' | 'sha'> & { repo: Pick<FullPull['base']['repo'], 'id'> };
  base: Pick<FullPull['base'], 'label' | 'ref' | 'sha'> & { repo: Pick<FullPull['base']['repo'], 'id'> };
  requested_reviewers: Pick<FullPull['user'], 'login'>[];
  requested_teams: Pick<NonNullable<FullPull['requested_teams']>[number], 'name' | 'slug'>[];
};

export function pullShape(webUrl: string, repository: Repository, pull: Pull): Shape {
  const { id, owner, name } = repository;
  return {
    html_url: `${webUrl}/${owner}/${name}/pull/${pull.number}`,
    number: pull.number,
    state: pull.state,
    title: pull.title,
    body: pull.body,
    user: { login: pull.author },
    merged_at: pull.mergedAt,
    // For an open pull request, GitHub returns the commit of its test merge.
    merge_commit_sha: pull.mergeCommitSha ?? createHash('sha1').update(pull.headSha).digest('hex'),
    head: {
      label: `${owner}:${pull.head}`,
      ref: pull.head,
      sha: pull.headSha,
      repo: { id: pull.fromFork ? id + 1_000_000 : id },
    },
    base: {
      label: `${owner}:${pull.base}`,
      ref: pull.base,
      sha: repository.branches.get(pull.base)?.sha ?? '',
      repo: { id },
    },
    requested_reviewers: [...pull.reviewers].map((login) => ({ login })),
    requested_teams: [...pull.teams].map((slug) => ({ name: `The ${slug}`, slug })),
  };
}

export function fileShape({
  filename,
  previous,
}: ReturnType<typeof changedFiles>[number]): Pick<
  ResponseData<'pulls', 'listFiles'>[number],
  'filename' | 'previous_filename' | 'status'
> {
  return previous === null
    ? { filename, status: 'modified' }
    : { filename, status: 'renamed', previous_filename: previous };
}

/** @param id from 1; GitHub's are unique beyond the pull request. */
export function reviewShape({ login, state, submittedAt, type = 'User', text }: SubmittedReview, id: number) {
  const shape: Pick<ResponseData<'pulls', 'listReviews'>[number], 'id' | 'body' | 'state' | 'submitted_at'> & {
    user: { login: string; type: string };
  } = {
    id,
    body: text?.body ?? '',
    user: { login, type },
    state,
    ...(submittedAt === null ? {} : { submitted_at: submittedAt }),
  };
  return shape;
}

/** A comment on an outdated line has no `line`. `position` counts the lines of the diff. */
export function reviewCommentShape(
  { path, line, body }: ReviewText['comments'][number],
  index: number,
): Pick<
  ResponseData<'pulls', 'listCommentsForReview'>[number],
  'id' | 'path' | 'body' | 'line' | 'original_line' | 'position'
> {
  const isOutdated = index % 2 === 1;
  const lines = { ...(line !== null && { original_line: line, ...(!isOutdated && { line }) }) };
  return { id: index + 1, path, body, position: 100, ...lines };
}

type FileData = Extract<ResponseData<'repos', 'getContent'>, { type: 'file' }>;

/** @param withContent false for files above 1 MB, whose content GitHub omits. */
export function contentShape(
  path: string,
  content: string,
  withContent: boolean,
): Pick<FileData, 'type' | 'encoding' | 'content' | 'path' | 'sha' | 'size'> {
  const base64 = Buffer.from(content).toString('base64');
  return {
    type: 'file',
    encoding: withContent ? 'base64' : 'none',
    // In lines of 60 characters, like GitHub.
    content: withContent ? base64.replaceAll(/(.{60})/g, '$1\n') : '',
    path,
    sha: blobSha(content),
    size: Buffer.byteLength(content),
  };
}

export function blobSha(content: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0${content}`)
    .digest('hex');
}

export function installationTokenShape(
  token: string,
  expiresAt: string,
): Pick<
  ResponseData<'apps', 'createInstallationAccessToken'>,
  'token' | 'expires_at' | 'permissions' | 'repository_selection'
> {
  return {
    token,
    expires_at: expiresAt,
    permissions: { contents: 'write', pull_requests: 'write', metadata: 'read' },
    repository_selection: 'all',
  };
}

/** GitHub's error format (docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api). */
export function errorShape(status: number, message: string, errors?: readonly object[]) {
  return {
    message,
    ...(errors ? { errors } : {}),
    documentation_url: 'https://docs.github.com/rest',
    status: `${status}`,
  };
}
