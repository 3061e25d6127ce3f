import { z } from 'zod';
import { spawnGuarded } from '../../embedded/guarded-child.ts';
import { freePort } from './free-port.ts';
import { locateRealTool } from './real-tool.ts';
import { waitFor } from './system/wait-for.ts';

const created = z.object({ listen: z.string() });

/** https://github.com/Shopify/toxiproxy#toxics */
export type Toxic = 'latency' | 'timeout' | 'reset_peer' | 'limit_data' | 'slicer';

export type ToxicProxy = {
  /** `host:port` that clients use in place of the upstream's. */
  address: string;
  /** Closes all connections and refuses new ones until the returned function is called. */
  cut(): Promise<() => Promise<void>>;
  /** Adds the toxic in both directions, until the returned function is called. */
  add(type: Toxic, attributes: Readonly<Record<string, number>>): Promise<() => Promise<void>>;
};

export type Toxiproxy = {
  /** @param upstream `host:port` */
  proxy(name: string, upstream: string): Promise<ToxicProxy>;
  stop(): Promise<void>;
};

/** A real TCP proxy that causes faults of the network. */
export async function startToxiproxy(): Promise<Toxiproxy> {
  const port = await freePort();
  const child = spawnGuarded(await locateRealTool('toxiproxy-server'), ['-host', '127.0.0.1', '-port', String(port)], {
    LOG_LEVEL: 'error',
  });
  const api = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${api}/version`)).ok, { describe: 'answered by toxiproxy' });
  const call = async (method: 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> => {
    const response = await fetch(api + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`toxiproxy responded to ${path} with ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    async proxy(name, upstream) {
      const proxy = `/proxies/${name}`;
      const { listen } = created.parse(await call('POST', '/proxies', { name, listen: '127.0.0.1:0', upstream }));
      return {
        address: listen,
        async cut() {
          await call('POST', proxy, { enabled: false });
          return async () => void (await call('POST', proxy, { enabled: true }));
        },
        async add(type, attributes) {
          const streams = ['upstream', 'downstream'];
          for (const stream of streams) await call('POST', `${proxy}/toxics`, { type, stream, attributes });
          return async () => {
            for (const stream of streams) await call('DELETE', `${proxy}/toxics/${type}_${stream}`);
          };
        },
      };
    },
    stop: child.stop,
  };
}
