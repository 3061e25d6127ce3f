import { z } from 'zod';

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

type ServingVariables = z.infer<z.ZodObject<typeof servingVariables>>;

/** How a deployment serves its site. */
export type ServingSettings = ReturnType<typeof readServingSettings>;

export function readServingSettings({ BASE_PATH, BASIC_AUTH, ACCESS_LOG }: ServingVariables) {
  const [user = '', ...password] = BASIC_AUTH?.split(':') ?? [];
  return {
    /** Empty, or a path without a slash at its end. */
    basePath: BASE_PATH.replace(/\/$/, ''),
    /** Undefined: everyone may read. */
    basicAuth: BASIC_AUTH === undefined ? undefined : { user, password: password.join(':') },
    accessLog: ACCESS_LOG === 'on',
  };
}
