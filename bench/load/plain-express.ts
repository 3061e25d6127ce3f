import express from 'express';

/** A process that runs only Express, without reading bodies or verifying signatures. */
const app = express();
app.disable('x-powered-by').disable('etag');
app.post('/webhooks/:site/:source', (_request, response) => void response.status(202).json({ accepted: [] }));

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) {
    process.stdout.write(`ready http://127.0.0.1:${address.port}\n`);
  }
});
