import { Command } from 'commander';
import { z } from 'zod';
import { siteState } from '../../contract/site-state.ts';
import { CommandError, UsageError } from '../command-error.ts';
import { createContext } from '../context.ts';
import { OPERATOR_TOKEN_FILE, openHome } from '../home.ts';
import { requestJson } from '../request-json.ts';

const rejected = z.object({ source: z.string(), reason: z.string(), count: z.number(), lastAt: z.string() });

/** Read loosely: an api of another release may say more or less. */
const status = siteState
  // A default would tell of what this api did not.
  .extend({ rejected: z.array(rejected), trouble: siteState.shape.trouble.unwrap() })
  .partial()
  .required({ site: true })
  .loose();
const statusList = z.object({ sites: z.array(status), nextCursor: z.string().nullish() });
type Status = z.infer<typeof status>;

export function sitesCommand(): Command {
  const command = new Command('sites').description('the sites of a running api');
  command
    .command('status')
    .argument('[site]', 'one site; without it all of them')
    .option('--json', 'print the answer as JSON')
    .option('--url <url>', 'where the api answers; else the running `up`, else HOST and PORT')
    .description('say where each site stands')
    .addHelpText('after', '\nNeeds OPERATOR_TOKEN, except beside a running `up`, which keeps it in GALLEY_HOME.')
    .action(showStatus);
  return command;
}

async function showStatus(site: string | undefined, options: { json?: boolean; url?: string }): Promise<void> {
  const { settings } = createContext();
  const home = openHome(settings.home);
  const running = await home.running();
  const token = settings.operatorToken ?? (running ? await home.readSecret(OPERATOR_TOKEN_FILE) : undefined);
  if (token === undefined) throw new UsageError('OPERATOR_TOKEN: expected the token that the api was started with');
  const base = options.url ?? running?.api ?? `http://${settings.host}:${settings.port}`;
  const ask = (path: string): Promise<unknown> => requestJson({ url: new URL(path, base), token });
  if (site !== undefined) {
    const answer = await ask(`/sites/${encodeURIComponent(site)}`);
    process.stdout.write(options.json ? asJson(answer) : inFull(status.parse(answer)));
    return;
  }
  const sites = await askForAll(ask);
  if (options.json) process.stdout.write(asJson({ sites, nextCursor: null }));
  else process.stdout.write(sites.length === 0 ? 'no sites\n' : sites.map(line).join(''));
}

/** Every page of the list, in its order. */
async function askForAll(ask: (path: string) => Promise<unknown>): Promise<Status[]> {
  const sites: Status[] = [];
  for (let path: string | undefined = '/sites?limit=200'; path !== undefined; ) {
    const parsed: z.ZodSafeParseResult<z.infer<typeof statusList>> = statusList.safeParse(await ask(path));
    if (!parsed.success) throw new CommandError('The api answered GET /sites in a form that this release can not read');
    sites.push(...parsed.data.sites);
    const { nextCursor } = parsed.data;
    const goesOn = typeof nextCursor === 'string' && parsed.data.sites.length > 0;
    path = goesOn ? `/sites?limit=200&cursor=${encodeURIComponent(nextCursor)}` : undefined;
  }
  return sites;
}

function asJson(answer: unknown): string {
  return `${JSON.stringify(answer, null, 2)}\n`;
}

/** More of these are in the JSON. */
const NEWEST = 10;

function inFull(site: Status): string {
  const deliveries = (site.deliveries ?? []).slice(0, NEWEST).map((delivery) => {
    const { at, source, outcome, topic, workflowId, why } = delivery;
    return [`  ${at}`, source, outcome, topic && plain(topic), workflowId, why && `(${plain(why)})`];
  });
  const turnedAway = (site.rejected ?? []).map(({ lastAt, source, reason, count }) => {
    return [`  ${lastAt}`, source, 'rejected:', reason, `(${count === 1 ? 'once' : `${count} times`})`];
  });
  const lines = [...deliveries, ...turnedAway].map((words) => `${words.filter(Boolean).join(' ')}\n`);
  return line(site) + lines.join('');
}

/** Senders choose their words, and a terminal obeys some. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');
}

function line(each: Status): string {
  const facts = [
    each.phase ?? 'unknown',
    each.version && `version ${each.version}`,
    each.linkExpiresAt && `link until ${each.linkExpiresAt}`,
    each.nextRefreshAt && `refresh at ${each.nextRefreshAt}`,
    each.progress && `${each.progress.percent ?? '?'} %, ${each.progress.pageCount ?? '?'} pages`,
    ...(each.deployments ?? []).map(({ held, pin, valuesFile }) => held && `held at ${pin} by ${valuesFile}`),
    each.lastError && `error: ${each.lastError.message}`,
  ];
  return `${each.site}: ${facts.filter(Boolean).join(', ')}\n`;
}
