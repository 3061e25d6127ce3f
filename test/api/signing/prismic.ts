/** Prismic signs nothing: the secret stands in the body, beside what changed. */
export function withPrismicSecret(secret: string | null, change: object = {}): string {
  return JSON.stringify(prismicUpdate({ secret, ...change }));
}

/** What Prismic tells of new content. */
export function prismicUpdate(change: object): object {
  return {
    type: 'api-update',
    masterRef: 'X6qn-RIAACMAVge1',
    releases: {},
    masks: {},
    tags: {},
    experiments: {},
    documents: ['X5w-mxIAACAAZJ2H'],
    domain: 'handbook',
    apiUrl: 'https://handbook.prismic.io/api',
    ...change,
  };
}
