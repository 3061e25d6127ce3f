import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';

/** In env files a key's lines are often joined by a literal \n. */
const privateKey = z
  .string()
  .transform((text) => text.replaceAll('\\n', '\n'))
  .refine(isPrivateKey, 'expected the private key of the app as PEM, with line breaks or \\n');

function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    return false;
  }
}

/** The variables FORGE_…, one by one; `readForgeSettings` checks their combination. */
export const forgeVariables = {
  FORGE_KIND: z.enum(['github', 'gitea'], { error: 'expected github or gitea' }).optional(),
  FORGE_URL: z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' }).optional(),
  FORGE_TOKEN: z.string().optional(),
  FORGE_APP_ID: z.string().regex(/^\d+$/, 'expected the number of the GitHub App').optional(),
  FORGE_APP_PRIVATE_KEY: privateKey.optional(),
};

export type ForgeAuth = { kind: 'token'; token: string } | { kind: 'app'; appId: string; privateKey: string };

/** The forge of repositories that aren't `file://`. */
export interface ForgeSettings {
  kind: 'github' | 'gitea';
  /** Absent: github.com. */
  url: string | undefined;
  auth: ForgeAuth;
}

type ForgeVariables = z.infer<z.ZodObject<typeof forgeVariables>>;

/** The settings, undefined without a forge, or one sentence for each variable that conflicts with others. */
export function readForgeSettings(env: ForgeVariables): { settings: ForgeSettings | undefined; problems: string[] } {
  const { FORGE_KIND: kind, FORGE_URL: url } = env;
  const auth = authOf(env);
  const settings = kind === undefined || auth === undefined ? undefined : { kind, url: url?.replace(/\/+$/, ''), auth };
  return { settings, problems: problemsOf(env) };
}

function authOf({ FORGE_TOKEN, FORGE_APP_ID, FORGE_APP_PRIVATE_KEY }: ForgeVariables): ForgeAuth | undefined {
  if (FORGE_TOKEN !== undefined) return { kind: 'token', token: FORGE_TOKEN };
  if (FORGE_APP_ID === undefined || FORGE_APP_PRIVATE_KEY === undefined) return undefined;
  return { kind: 'app', appId: FORGE_APP_ID, privateKey: FORGE_APP_PRIVATE_KEY };
}

function problemsOf(env: ForgeVariables): string[] {
  const { FORGE_KIND, FORGE_URL, FORGE_TOKEN, FORGE_APP_ID, FORGE_APP_PRIVATE_KEY } = env;
  const all = [FORGE_KIND, FORGE_URL, FORGE_TOKEN, FORGE_APP_ID, FORGE_APP_PRIVATE_KEY];
  if (all.every((value) => value === undefined)) return [];
  if (FORGE_KIND === undefined) return ['FORGE_KIND: expected github or gitea beside the other FORGE_ variables'];
  const problems: string[] = [];
  const hasApp = FORGE_APP_ID !== undefined || FORGE_APP_PRIVATE_KEY !== undefined;
  if (FORGE_KIND === 'gitea') {
    if (FORGE_URL === undefined) problems.push('FORGE_URL: expected the URL of your Gitea');
    if (hasApp) problems.push('FORGE_APP_ID: expected FORGE_TOKEN instead; Gitea has no apps');
    else if (FORGE_TOKEN === undefined) problems.push('FORGE_TOKEN: expected an access token of your Gitea');
    return problems;
  }
  if (FORGE_TOKEN !== undefined && hasApp)
    problems.push('FORGE_TOKEN: expected either this or FORGE_APP_ID with FORGE_APP_PRIVATE_KEY, not both');
  if (FORGE_TOKEN === undefined && !hasApp)
    problems.push('FORGE_TOKEN: expected an access token, or FORGE_APP_ID with FORGE_APP_PRIVATE_KEY');
  if (hasApp && FORGE_APP_ID === undefined) problems.push('FORGE_APP_ID: expected beside FORGE_APP_PRIVATE_KEY');
  if (hasApp && FORGE_APP_PRIVATE_KEY === undefined)
    problems.push('FORGE_APP_PRIVATE_KEY: expected beside FORGE_APP_ID');
  return problems;
}
