import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DEFAULT_LIMITS } from '../../exporter/limits.ts';
import { createPlatformActivities } from '../../platform/activities/create-platform-activities.ts';
import type { ObjectStore } from '../../platform/objects/object-store.ts';
import { serveFiles } from '../helpers/http-site.ts';
import { createGate, type Gate } from '../helpers/system/gate.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { HOME, logger, type StagesFixture, startStagesFixture } from '../platform/activities/export/stages-fixture.ts';
import { createSimulatedClock } from './fetch/simulated-origin.ts';

const PIECE = Buffer.alloc(40_000, 'galley');
const FILM = '/film.mp4';
/** Longer than a round of the crawl and its grace time for running responses. */
const PAST_A_ROUND_MS = DEFAULT_LIMITS.activityMs + 10_000;
const PAUSE_MS = DEFAULT_LIMITS.idleTimeoutMs - 1_000;

let stages: StagesFixture;

beforeAll(async () => {
  stages = await startStagesFixture();
});

afterAll(() => stages.stop());

/** Runs an activity in a separate workflow run, so that no other activity shares its leases. */
function runActivity<Result>(work: () => Promise<Result>): Promise<Result> {
  return new MockActivityEnvironment({ workflowExecution: { workflowId: 'w', runId: randomUUID() } }).run(work);
}

/** A site whose film a test sends by hand. */
function serveFilm(): { requested: Gate; cut: Promise<never>; response(): ServerResponse } {
  const requested = createGate();
  let onCut = (_error: Error): void => undefined;
  const cut = new Promise<never>((_resolve, reject) => {
    onCut = reject;
  });
  cut.catch(() => undefined);
  let film: ServerResponse | undefined;
  stages.server.requests.length = 0;
  const pages = serveFiles({ '/': `<video src="${FILM}"></video><a href="/page">`, '/page': 'Page', '/late': 'Late' });
  stages.server.setHandler((request, response) => {
    if (request.url === FILM) {
      response.writeHead(200, { 'content-type': 'video/mp4' }).flushHeaders();
      response.on('close', () => onCut(new Error('The connection was closed')));
      film ??= response;
      requested.open();
    } else {
      pages(request, response);
    }
  });
  const response = (): ServerResponse => {
    if (film === undefined) throw new Error('The film was not requested');
    return film;
  };
  return { requested, cut, response };
}

function requestsFor(path: string): number {
  return stages.server.requests.filter((each) => each === path).length;
}

/** The store, and a way to wait until it has received this many bytes of large files. */
function watchStore(objects: ObjectStore): { objects: ObjectStore; untilReceived(bytes: number): Promise<void> } {
  const received = new EventEmitter();
  let receivedBytes = 0;
  const put: ObjectStore['put'] = (key, source, options) => {
    if (!(source instanceof Readable)) return objects.put(key, source, options);
    const watched = async function* (): AsyncGenerator<Buffer> {
      for await (const piece of source) {
        receivedBytes += piece.length;
        received.emit('piece');
        yield piece;
      }
    };
    return objects.put(key, Readable.from(watched()), options);
  };
  return {
    objects: { ...objects, put },
    async untilReceived(bytes) {
      while (receivedBytes < bytes) await once(received, 'piece');
    },
  };
}

describe('a file that takes longer than a round of the crawl', () => {
  it('is requested once, keeps its lease, is complete in the bundle, and does not delay other pages', async () => {
    const clock = createSimulatedClock();
    const limits = { maxBufferedBytes: 10_000 };
    const store = watchStore(stages.rig.objects);
    const own = createPlatformActivities({ ...stages.rig, objects: store.objects, logger, limits, clock });
    const other = createPlatformActivities({ ...stages.rig, logger, limits });
    const film = serveFilm();
    let sentPieces = 0;
    /** Advances the clock in steps that are shorter than the idle timeout, and sends a piece of the film after each. */
    const passTime = async (ms: number): Promise<void> => {
      for (let leftMs = ms; leftMs > 0; leftMs -= PAUSE_MS) {
        clock.advance(Math.min(leftMs, PAUSE_MS));
        film.response().write(PIECE);
        sentPieces += 1;
        await Promise.race([store.untilReceived(sentPieces * PIECE.length), film.cut]);
        // The crawl reads the clock at least once in each turn of its loop.
        await Promise.race([clock.untilRead(8), film.cut]);
      }
    };
    const jobId = await stages.job();
    await runActivity(() => own.openExport({ jobId }));
    const crawling = runActivity(() => own.crawlSite({ jobId, maxMs: DEFAULT_LIMITS.activityMs }));
    await film.requested.pass();
    await passTime(PAST_A_ROUND_MS);
    await stages.find(jobId, [{ url: `${HOME}/late` }]);
    await waitFor(() => requestsFor('/late') === 1, { describe: 'requested the late page' });

    // The film's lease is about to end, and another worker looks for work.
    await stages.rig.db.execute(
      `update crawl_urls set lease_until = now() + interval '5 seconds' where job_id = '${jobId}' and state = 'leased'`,
    );
    const renewed = `select 1 from crawl_urls where job_id = '${jobId}' and state = 'leased'
      and lease_until > now() + interval '30 seconds'`;
    await waitFor(async () => (await stages.rig.db.execute(renewed)).rows.length === 1, {
      describe: 'renewed the lease',
    });
    expect(await runActivity(() => other.crawlSite({ jobId, maxMs: 1 }))).toMatchObject({ done: false });

    await passTime(PAST_A_ROUND_MS);
    film.response().end();
    expect(await crawling).toMatchObject({ done: true });
    expect(requestsFor(FILM)).toBe(1);
    await stages.rig.runStages(jobId, { limits });
    const { files } = await stages.rig.read(jobId);
    expect(files.get('film.mp4')).toBe(PIECE.toString().repeat(sentPieces));
    expect(files.has('page.html')).toBe(true);
  });

  it('is reported as broken with the reason if it stalls each time', async () => {
    const clock = createSimulatedClock();
    const own = createPlatformActivities({ ...stages.rig, logger, clock });
    serveFilm();
    const jobId = await stages.job();
    await runActivity(() => own.openExport({ jobId }));
    const crawling = (async () => {
      while (!(await runActivity(() => own.crawlSite({ jobId, maxMs: 3_600_000 }))).done);
    })();
    for (let times = 1; times <= 3; times += 1) {
      await waitFor(() => requestsFor(FILM) === times, { describe: `requested the film ${times} times` });
      const state = `select 1 from crawl_urls where job_id = '${jobId}' and url = '${HOME}${FILM}'
        and state = 'leased' and attempts = ${times - 1}`;
      await waitFor(
        async () => {
          if ((await stages.rig.db.execute(state)).rows.length === 0) return true;
          clock.advance(DEFAULT_LIMITS.idleTimeoutMs);
          return false;
        },
        { describe: 'gave up the film' },
      );
    }
    await crawling;
    expect(requestsFor(FILM)).toBe(3);
    await stages.rig.runStages(jobId);
    const { files, report } = await stages.rig.read(jobId);
    expect(files.has('film.mp4')).toBe(false);
    expect(report.brokenLinks).toEqual([
      expect.objectContaining({ url: HOME + FILM, reason: 'the body stalled: nothing came for 20 seconds' }),
    ]);
  });
});
