import { z } from 'zod';

/** How a deployment serves its site. */
export interface ServingSettings {
  /** Empty, or a path without a slash at its end. */
  basePath: string;
  /** Undefined: everyone may read. */
  basicAuth: { user: string; password: string } | undefined;
  accessLog: boolean;
}

export const servingVariables = {
  BASE_PATH: z
    .string()
    .regex(/^(?:\/[\w.~-]+)*\/?$/, 'expected a path such as "/docs"')
    .default(''),
  BASIC_AUTH: z
    .string()
    .regex(/^[^:]+:.+$/, 'expected a user name and a password as "user:password"')
    .optional(),
  ACCESS_LOG: z.enum(['on', 'off'], { error: 'expected on or off' }).default('off'),
};

type Values = { BASE_PATH: string; BASIC_AUTH?: string | undefined; ACCESS_LOG: 'on' | 'off' };

export function readServingSettings({ BASE_PATH, BASIC_AUTH, ACCESS_LOG }: Values): ServingSettings {
  const [user = '', ...password] = BASIC_AUTH?.split(':') ?? [];
  return {
    basePath: BASE_PATH.replace(/\/$/, ''),
    basicAuth: BASIC_AUTH === undefined ? undefined : { user, password: password.join(':') },
    accessLog: ACCESS_LOG === 'on',
  };
}
