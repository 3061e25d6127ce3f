import { request as send } from 'undici';

/**
 * `request` of undici, whose bodies keep an error for their reader. Without a listener, a body that fails or is destroyed
 * while nothing reads it ends the process.
 */
export async function request(...parameters: Parameters<typeof send>): ReturnType<typeof send> {
  const response = await send(...parameters);
  response.body.on('error', () => undefined);
  return response;
}
