// Sends signed publishes every 200 ms until standard input closes, on connections of their own and on kept ones, and prints
// how many had each outcome. usage: node publish.js URL SECRET
const { createHmac, randomUUID } = require('node:crypto');
const { Agent, request } = require('node:http');

const [url, secret] = process.argv.slice(2);
const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
const kept = new Agent({ keepAlive: true, maxSockets: 2 });
const outcomes = {};
let open = 0;

function send(agent) {
  const id = `msg_${randomUUID()}`;
  const at = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({ type: 'entry.published', timestamp: new Date().toISOString(), data: { id } });
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  const signed = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
  const settle = (outcome) => {
    open -= 1;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  open += 1;
  request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json', ...signed } }, (response) => {
    response.resume().on('end', () => settle(response.statusCode));
  })
    .on('error', (error) => settle(error.code ?? error.message))
    .end(body);
}

const timer = setInterval(() => {
  send(false);
  if (open < 20) send(kept);
}, 200);
process.stdin.resume().on('end', () => {
  clearInterval(timer);
  const last = setInterval(() => {
    if (open > 0) return;
    clearInterval(last);
    kept.destroy();
    process.stdout.write(JSON.stringify(outcomes));
  }, 50);
});
