import { randomUUID } from 'node:crypto';
import { waitFor } from '../helpers/system/wait-for.ts';
import type { Site, Step } from './choose.ts';
import { SITES } from './choose.ts';
import { editionPages } from './editions.ts';
import type { Action, Command, Publish, View } from './history.ts';
import { createTasks } from './tasks.ts';
import type { World } from './world.ts';

/** Who edits, publishes and steers sites, and notes it. */
export type Operators = {
  edits: Record<string, number[]>;
  publishes: Publish[];
  commands: Command[];
  /** Begins a step. Commands to a site wait for the ones before. */
  act(step: Exclude<Step, { do: 'fault' }>): void;
  /** Like `act`, and waits for the response. */
  publish(site: Site, options?: { fewerPages?: boolean; resends?: boolean }): Promise<void>;
  command(site: Site, action: Action, body?: object): Promise<number | null>;
  pin(site: Site, target: Pick<View, 'version' | 'pages'> | null): Promise<void>;
  /** Merges the open pull requests of the site. */
  merge(site: Site): Promise<void>;
  allAnswered(): Promise<void>;
};

/** Longer than any fault. */
const PATIENCE_MS = 300_000;

export function createOperators(world: World, views: readonly View[], nowMs: () => number): Operators {
  const edits: Record<string, number[]> = Object.fromEntries(SITES.map((site) => [site, [0]]));
  const publishes: Publish[] = [];
  const commands: Command[] = [];
  const lanes = new Map<Site, Promise<unknown>>();
  const running = createTasks();

  const inOrder = (site: Site, work: () => Promise<unknown>): void => {
    const next = (lanes.get(site) ?? Promise.resolve()).then(work);
    lanes.set(site, next);
    running.add(next);
  };

  /** The CMS edits its content and sends a delivery until it is accepted. */
  const publish: Operators['publish'] = async (site, { fewerPages = false, resends = false } = {}) => {
    const edition = (edits[site]?.push(nowMs()) ?? 1) - 1;
    for (const [path, html] of Object.entries(editionPages(site, edition, fewerPages))) {
      world.origins.get(site)?.put(path, html);
    }
    const entry: Publish = { site, edition, sentMs: nowMs(), acceptedMs: null, deliveryId: null, sends: 0 };
    publishes.push(entry);
    const id = randomUUID();
    const send = async (): Promise<Response> => {
      entry.sends += 1;
      return await world.orchestrator.publish(site, `Edition ${edition}`, id);
    };
    const isAccepted = async (): Promise<boolean> => {
      const response = await send();
      if (response.status !== 202) return false;
      entry.deliveryId = await deliveryIdOf(response);
      entry.acceptedMs = nowMs();
      return true;
    };
    // The judge finds a delivery that is never accepted.
    const waiting = { describe: `accepted edition ${edition} of ${site}`, everyMs: 500, timeoutMs: PATIENCE_MS };
    await waitFor(isAccepted, waiting).catch(() => undefined);
    if (resends) await send().catch(() => undefined);
  };

  const noted = async (command: Omit<Command, 'sentMs' | 'answeredMs' | 'status'>, send: () => Promise<number>) => {
    const entry: Command = { ...command, sentMs: nowMs(), answeredMs: null, status: null };
    commands.push(entry);
    try {
      entry.status = await send();
      // A gateway's error says as little as no response.
      if (entry.status < 500) entry.answeredMs = nowMs();
    } catch {
      // Nobody knows whether it took effect.
    }
    return entry.status;
  };

  const command = async (site: Site, action: Action, body?: object, edition: number | null = null) =>
    await noted({ site, action, edition, place: null }, async () => (await world.steer(site, action, body)).status);

  const pin: Operators['pin'] = async (site, target) => {
    const edition = target === null ? null : editionOf(target);
    const action = target === null ? 'unpin' : 'pin';
    await noted({ site, action, edition, place: `deployment-${site}` }, async () => {
      await waitFor(async () => void (await world.pin(site, target?.version ?? null)) === undefined, {
        describe: `edited the values file of ${site}`,
      });
      return 200;
    });
  };

  const merge: Operators['merge'] = async (site) => {
    for (const place of world.places) {
      if (place.site !== site || place.merge === undefined) continue;
      const once = place.merge;
      await noted({ site, action: 'merge', edition: null, place: place.name }, async () =>
        (await once()) ? 200 : 409,
      );
    }
  };

  /** A version that visitors of the site's own deployment saw, counted from the newest. */
  const seen = (site: Site, back: number): View | undefined => {
    const own = views.filter((view) => view.place === `deployment-${site}` && view.version !== null);
    const versions = [...new Map(own.map((view) => [view.version, view])).values()];
    return versions.toSorted((a, b) => editionOf(a) - editionOf(b)).at(-1 - back);
  };

  const act: Operators['act'] = (step) => {
    const { site } = step;
    if (step.do === 'publish') running.add(publish(site, step));
    else
      inOrder(site, async () => {
        if (step.do === 'unpin') return await pin(site, null);
        if (step.do === 'merge') return await merge(site);
        if (step.do === 'lock') return await command(site, 'lock', {});
        if (step.do === 'steer') return await command(site, step.action);
        const target = seen(site, step.back);
        if (target === undefined) return;
        if (step.do === 'pin') return await pin(site, target);
        const { jobId } = target;
        return await command(site, 'rollback', { jobId, lock: step.lock }, editionOf(target));
      });
  };

  return {
    edits,
    publishes,
    commands,
    act,
    publish,
    command,
    pin,
    merge,
    allAnswered: running.end,
  };
}

function editionOf({ pages }: Pick<View, 'pages'>): number {
  return pages[0]?.edition ?? -1;
}

async function deliveryIdOf(response: Response): Promise<string | null> {
  const body: unknown = await response.json();
  const isNamed = typeof body === 'object' && body !== null && 'deliveryId' in body;
  return isNamed && typeof body.deliveryId === 'string' ? body.deliveryId : null;
}
