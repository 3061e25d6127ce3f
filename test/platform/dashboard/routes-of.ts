import type { Express } from 'express';
import pino from 'pino';
import { createPlatformApi } from '../../../platform/api/create-platform-api.ts';
import type { TestPlatform } from '../../helpers/platform-api.ts';

/** `METHOD /path` of all routes of the platform. */
export function routesOf({ db, objects }: Pick<TestPlatform, 'db' | 'objects'>): string[] {
  const none = async () => undefined;
  const app: Express = createPlatformApi({
    ...{ db, objects, startExport: none, cancelExport: none, startAgentJob: none, cancelAgentJob: none },
    ...{ agentModel: 'a-model', publicUrl: 'http://127.0.0.1', bundleLinkTtlMs: 1000, operatorToken: 'token' },
    logger: pino({ level: 'silent' }),
  });
  return routesIn(app.router.stack);
}

/** `METHOD /path` of all routes of an app. */
export function routesIn(stack: readonly unknown[]): string[] {
  return stack.flatMap((layer) => {
    if (typeof layer !== 'object' || layer === null) return [];
    const route: unknown = Reflect.get(layer, 'route');
    if (typeof route !== 'object' || route === null) {
      const handle: unknown = Reflect.get(layer, 'handle');
      const inner: unknown = typeof handle === 'function' ? Reflect.get(handle, 'stack') : undefined;
      return Array.isArray(inner) ? routesIn(inner) : [];
    }
    const methods = Object.keys(Reflect.get(route, 'methods')).filter(
      (method) => method !== '_all' && method !== 'head',
    );
    return methods.map((method) => `${method.toUpperCase()} ${String(Reflect.get(route, 'path'))}`);
  });
}
