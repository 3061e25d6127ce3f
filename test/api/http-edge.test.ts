import express from 'express';
import { pino } from 'pino';
import { renderErrors } from '../../api/http-edge.ts';
import { serve } from '../../cli/serve.ts';

describe('a request that fails by our own fault', () => {
  test('is logged with its route, never with what somebody’s link has in it', async () => {
    const log: string[] = [];
    const app = express();
    app.get('/links/:token', () => {
      throw new Error('a fault');
    });
    app.use(renderErrors(pino({}, { write: (line: string) => void log.push(line) })));
    const { url, stop } = await serve(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    try {
      const answer = await fetch(`${url}/links/as-good-as-a-password?key=another`);
      expect([answer.status, await answer.json()]).toEqual([500, { error: 'internal error' }]);
    } finally {
      await stop();
    }
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      { route: '/links/:token', err: { message: 'a fault' } },
    ]);
    expect(log.join()).not.toMatch(/as-good-as-a-password|another/);
  });
});
