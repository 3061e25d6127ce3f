import { z } from 'zod';

/** The variables CHROMIUM_…, read by the platform's worker. */
export const browserVariables = {
  CHROMIUM_PATH: z.string().optional(),
  CHROMIUM_SANDBOX: z.enum(['on', 'off'], { error: 'expected on or off' }).default('on'),
};

/** The browser for projects with `render: browser` or `discover: browser`. */
export interface BrowserSettings {
  /** Undefined: Chromium or Chrome on the PATH. */
  path: string | undefined;
  /** Chromium's own sandbox. */
  sandbox: boolean;
  /** The search path. */
  searchPath: string;
}

type BrowserVariables = z.infer<z.ZodObject<typeof browserVariables>>;

export function readBrowserSettings(env: BrowserVariables, path: string | undefined): BrowserSettings {
  return { path: env.CHROMIUM_PATH, sandbox: env.CHROMIUM_SANDBOX === 'on', searchPath: path ?? '' };
}
