import { z } from 'zod';

/** A URL as operators write it in galley.yaml or a variable. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'expected an http(s) URL' });
