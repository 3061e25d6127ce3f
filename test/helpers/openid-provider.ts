import Provider from 'oidc-provider';
import { startHttpSite } from './http-site.ts';

export type OpenIdProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Where to send people back to. Call it before the first sign-in. */
  allow(redirectUri: string): void;
  close(): Promise<void>;
};

/**
 * A certified OpenID provider on 127.0.0.1. Its page accepts any login and password; the login becomes the email.
 */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const site = await startHttpSite((_request, response) => response.writeHead(503).end());
  const [clientId, clientSecret] = ['galley', 'secret-of-the-client'];
  return {
    ...{ issuer: site.origin, clientId, clientSecret, close: site.close },
    allow(redirectUri) {
      const provider = new Provider(site.origin, {
        clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        cookies: { keys: ['key-of-the-cookies'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: async () => ({ sub: id, email: id, email_verified: true, name: `${id} at the provider` }),
        }),
      });
      site.setHandler(provider.callback());
    },
  };
}
