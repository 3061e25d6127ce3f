import express from 'express';

/** A process: what Express alone answers on this machine, on a port of its own. It reads no body and knows nobody. */
const app = express();
app.disable('x-powered-by').disable('etag');
app.post('/webhooks/:site/:source', (_request, response) => void response.status(202).json({ accepted: [] }));

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) {
    process.stdout.write(`ready http://127.0.0.1:${address.port}\n`);
  }
});
