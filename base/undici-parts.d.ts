/** The package's types describe only its main entry, which loads sixty files more: caches, mocks, fetch, WebSocket. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici';
}
