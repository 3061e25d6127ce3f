import { z } from 'zod';
import type { Dialect } from './responses.ts';
import { itemsOf, pullRequestResponse, toPullRequest, userResponse } from './responses.ts';

const searchResponse = z.object({ items: z.array(z.object({ login: z.string() })) });

/** GitHub as of its REST API 2022-11-28, on github.com and Enterprise. */
export const github: Dialect = {
  name: 'GitHub',
  rights: {
    readPullRequests: 'Pull requests: read',
    writePullRequests: 'Pull requests: write',
    readFiles: 'Contents: read',
    readUsers: 'read:user',
  },
  codeOwnersPaths: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
  gitUsername: 'x-access-token',
  pageSize: { per_page: 100 },

  async *pullRequestsOf(client, { branch, ...target }) {
    const query = { ...target, head: `${target.owner}:${branch}`, sort: 'created', direction: 'desc' } as const;
    const found = itemsOf(pullRequestResponse, (page) => client.rest.pulls.list({ ...query, per_page: 100, page }));
    for await (const each of found) {
      // A fork that the same account owns goes by the same "owner:branch".
      if (each.head.ref === branch && each.head.repo?.id === each.base.repo?.id) yield each;
    }
  },

  toPullRequest: (response) => toPullRequest(response),

  isDuplicate: ({ status, said }) => status === 422 && /already exists/i.test(said),
  opensTwo: false,

  // Teams missing from the response weren't ignored: a team may pass its requests on to members.
  passedOver: () => [],

  lineOf: ({ line, original_line }) => line ?? original_line ?? null,

  async findLogin(client, mail) {
    const found = await client.rest.search.users({ q: `${mail} in:email`, per_page: 2 });
    const [only, ...others] = searchResponse.parse(found.data).items;
    if (!only || others.length > 0) return null;
    // The search also finds similar addresses, so check the account itself.
    const user = userResponse.parse((await client.rest.users.getByUsername({ username: only.login })).data);
    return user.email?.toLowerCase() === mail.toLowerCase() ? user.login : null;
  },

  async findMail(client, login) {
    return userResponse.parse((await client.rest.users.getByUsername({ username: login })).data).email || null;
  },
};
