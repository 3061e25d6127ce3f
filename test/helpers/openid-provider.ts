import { startHttpSite } from './http-site.ts';

export type OpenIdProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Where to send people back to. Call it before the first sign-in. */
  allow(...redirectUris: string[]): void;
  close(): Promise<void>;
};

/**
 * A certified OpenID provider on 127.0.0.1. Its page accepts any login and password; the login becomes the email.
 * `isVerified` is what it says of an email; undefined: nothing.
 */
export async function startOpenIdProvider(
  isVerified: (email: string) => boolean | string | undefined = () => true,
): Promise<OpenIdProvider> {
  const { warn, info } = console;
  // It warns of what is only good for tests.
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  const { default: Provider } = await import('oidc-provider');
  const site = await startHttpSite((_request, response) => response.writeHead(503).end());
  const [clientId, clientSecret] = ['galley', 'secret-of-the-client'];
  return {
    ...{ issuer: site.origin, clientId, clientSecret },
    allow(...redirectUris) {
      const provider = new Provider(site.origin, {
        clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        cookies: { keys: ['key-of-the-cookies'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: async () => ({
            sub: id,
            email: id,
            email_verified: isVerified(id),
            name: `${id} at the provider ${'W'.repeat(10_000)}`,
          }),
        }),
      });
      site.setHandler(provider.callback());
    },
    async close() {
      Object.assign(console, { warn, info });
      await site.close();
    },
  };
}
