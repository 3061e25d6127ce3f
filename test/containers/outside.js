// A site of one page, whose text a PUT changes. While it is held, requests for the page wait.
import { createServer } from 'node:http';

let text = 'nothing';
let waiting = [];
let isHeld = false;

createServer((request, response) => {
  const { method, url } = request;
  if (method === 'PUT' && url === '/') {
    request.setEncoding('utf8').once('data', (data) => {
      text = data;
    });
    request.once('end', () => response.end());
  } else if (method === 'PUT' && url === '/hold') {
    isHeld = true;
    response.end();
  } else if (method === 'PUT' && url === '/release') {
    isHeld = false;
    for (const answer of waiting.splice(0)) answer();
    response.end();
  } else if (url === '/waiting') response.end(String(waiting.length));
  else if (url === '/') {
    const answer = () => response.setHeader('content-type', 'text/html').end(`<title>Home</title><h1>${text}</h1>`);
    response.once('close', () => {
      waiting = waiting.filter((each) => each !== answer);
    });
    if (isHeld) waiting.push(answer);
    else answer();
  } else response.writeHead(404).end();
}).listen(8080);
