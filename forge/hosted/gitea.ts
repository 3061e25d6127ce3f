import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import type { Dialect } from './responses.ts';
import {
  itemsOf,
  listOf,
  type PullRequestResponse,
  pullRequestResponse,
  toPullRequest,
  userResponse,
} from './responses.ts';

const searchResponse = z.object({ data: z.array(userResponse) });

/** The longest pages that Gitea gives by default. */
const LIMIT = 50;

/** Once a branch is deleted, Gitea has its name in the label only. */
const headBranch = ({ head }: PullRequestResponse): string => head.label || head.ref;

/** Gitea 1.22 and newer; Forgejo speaks the same API. */
export const gitea: Dialect = {
  name: 'Gitea',
  rights: {
    readPullRequests: 'read:repository',
    writePullRequests: 'write:repository',
    readFiles: 'read:repository',
    readUsers: 'read:user',
  },
  // Gitea reads the last three, as regular expressions; the first is for patterns in GitHub's form.
  codeOwnersPaths: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS'],
  gitUsername: 'oauth2',
  pageSize: { limit: LIMIT },

  /** Gitea can't search by branch, so the lists are read, newest first. */
  async *pullRequestsOf(client, { branch, ...target }) {
    const found = itemsOf(pullRequestResponse, (page) => client.rest.pulls.list({ ...target, limit: LIMIT, page }));
    for await (const each of found) {
      if (headBranch(each) === branch && each.head.repo?.id === each.base.repo?.id) yield each;
    }
  },

  toPullRequest: (response) => toPullRequest(response, headBranch(response)),

  isDuplicate: ({ status }) => status === 409,
  opensTwo: true,

  /** Gitea accepts a team at a person's repository and ignores it. */
  passedOver(response, teams) {
    const listed = (response.requested_reviewers_teams ?? []).map(({ name }) => name.toLowerCase());
    return teams.filter((team) => !listed.includes(team.toLowerCase()));
  },

  lineOf: ({ position, original_position }) => position || original_position || null,

  findLogin,

  /** For a private address Gitea gives a placeholder, which no search finds. */
  async findMail(client, login) {
    const { email } = userResponse.parse((await client.rest.users.getByUsername({ username: login })).data);
    return email && (await findLogin(client, email)) !== null ? email : null;
  },
};

async function findLogin(client: Octokit, mail: string): Promise<string | null> {
  const found = await listOf(userResponse, async (page) => {
    const { headers, data } = await client.request('GET /users/search', { q: mail, limit: LIMIT, page });
    return { headers, data: searchResponse.parse(data).data };
  });
  const exact = found.filter(({ email }) => email?.toLowerCase() === mail.toLowerCase());
  return exact.length === 1 ? (exact[0]?.login ?? null) : null;
}
