import { z } from 'zod';
import { readRobots } from '../../exporter/urls/robots.ts';
import { expectConformance, type Outcome, readSuite } from './conformance.ts';

const verdicts = z.object({
  /** Each question of protego's own tests, with its answer. */
  questions: z.array(
    z.discriminatedUnion('ask', [
      z.object({
        ask: z.literal('can_fetch'),
        text: z.string(),
        args: z.tuple([z.string(), z.string()]),
        verdict: z.boolean(),
      }),
      z.object({
        ask: z.literal('crawl_delay'),
        text: z.string(),
        args: z.tuple([z.string()]),
        verdict: z.number().nullable(),
      }),
    ]),
  ),
  /** By site: paths that its rules concern, and whether each may be requested. */
  fetched: z.record(z.string(), z.record(z.string(), z.boolean())),
});

type Question = z.infer<typeof verdicts>['questions'][number];

const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url, 'https://site.local');
  return pathname + search;
};

/** By RFC 9309, a robot's name has only these characters. robots.txt itself is always requested. */
function isAboutRobots({ args: [first, agent = first] }: Question): boolean {
  return /^(?:[a-z_-]+|\*)$/i.test(agent) && !first.endsWith('/robots.txt');
}

test('robots.txt files get the verdicts of protego', () => {
  const { questions, fetched } = verdicts.parse(JSON.parse(readSuite('protego-verdicts.json')));
  const asked = questions.filter(isAboutRobots).map((question, index): Outcome => {
    const name = `question ${index + 1}: ${question.args.join(' ')}`;
    if (question.ask === 'can_fetch') {
      const [url, agent] = question.args;
      const robots = readRobots(question.text, agent.toLowerCase());
      return { name, passed: robots.isAllowed(pathOf(url)) === question.verdict };
    }
    const [agent] = question.args;
    const { crawlDelayMs } = readRobots(question.text, agent.toLowerCase());
    return { name, passed: crawlDelayMs === Math.min(30_000, 1000 * (question.verdict ?? 0)) };
  });
  const sites = Object.entries(fetched).map(([name, paths]): Outcome => {
    const robots = readRobots(readSuite('protego/tests/test_data', name), 'galley');
    // Galley requests no URL with an empty query or with unneeded escapes.
    const requested = Object.entries(paths).filter(
      ([path]) => path !== '/robots.txt' && pathOf(`https://site.local${path}`) === path,
    );
    return { name, passed: requested.every(([path, verdict]) => robots.isAllowed(path) === verdict) };
  });
  expectConformance({
    file: 'robots',
    suite: "robots.txt: protego's tests and the files of 4,000 sites",
    package: 'protego',
    shows: 'the crawler requests what protego allows, with the delay that it reads',
    outcomes: [...asked, ...sites],
  });
});
