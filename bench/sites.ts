import { Command, InvalidArgumentError } from 'commander';
import { EXPORT_DEFAULTS } from '../contract/export-defaults.ts';
import { machine, progress } from './machine.ts';
import { runSites, type SitesFigures, type SitesOptions } from './sites/run-sites.ts';
import { table } from './table.ts';
import { wholeNumber } from './whole-number.ts';

const HELP = `
One \`galley worker\` and Temporal's dev server, on a database file, run in separate processes. A fake Admin API responds
at once over HTTP, and each site has a values file. The steps:
  start    most sites start as after a continue-as-new: deployed, with a link of 24 h; the others are published and exported
  idle     nothing is due
  refresh  the published sites get short links, and each site's timer refreshes its link at least once
  restart  the worker stops until all short links are overdue, then starts again
Memory is read from /proc, so this needs Linux.`;

const SHORTEST_LINK_SECONDS = 5;
const DAY_HOURS = 24;

export function sitesBench(): Command {
  return new Command('sites')
    .description('the cost of 10,000 sites on one worker: memory, Temporal events, and a restart')
    .option('--sites <n>', 'number of sites', wholeNumber, 10_000)
    .option('--refreshed <n>', 'number of sites that are published and refreshed', wholeNumber, 500)
    .option(
      '--link-seconds <n>',
      'lifetime of the short links (default: 1.5 times the duration of their exports, at least 60)',
      linkSeconds,
    )
    .option('--idle-seconds <n>', 'how long to watch idle sites', wholeNumber, 60)
    .addHelpText('after', HELP)
    .action(async (options: SitesOptions) => {
      const conditions = machine();
      const figures = await runSites(options, { progress });
      process.stdout.write(`\n${reportSites(figures)}\n${conditions}\n`);
    });
}

function linkSeconds(text: string): number {
  const seconds = wholeNumber(text);
  if (seconds < SHORTEST_LINK_SECONDS) {
    throw new InvalidArgumentError(`expected a whole number from ${SHORTEST_LINK_SECONDS}`);
  }
  return seconds;
}

export function reportSites(figures: SitesFigures): string {
  const { sites, starting, idle, refreshing, restart } = figures;
  const perRefresh = refreshing.events / refreshing.links;
  const hoursBetween = DAY_HOURS * (1 - EXPORT_DEFAULTS.refreshMargin);
  const perHour = (events: number, seconds: number): string => ((events / seconds) * 3_600).toFixed(0);
  const facts = table([
    ['sites', String(sites)],
    [`start: seconds until ${refreshing.sites} published sites are live`, starting.seconds.toFixed(1)],
    ['  peak memory of the worker, MB', starting.peakMb.toFixed(0)],
    ['idle: memory of the worker, MB', idle.residentMb.toFixed(0)],
    [`  links refreshed again in ${idle.seconds.toFixed(0)} s`, String(idle.links)],
    [`  events of all sites in ${idle.seconds.toFixed(0)} s`, String(idle.events)],
    [
      `refresh: ${refreshing.sites} sites with links of ${refreshing.linkSeconds} s, refreshes counted`,
      String(refreshing.links),
    ],
    ['  events of these sites', String(refreshing.events)],
    ['  events per site and refresh', perRefresh.toFixed(1)],
    ['  events per hour of these sites, measured', perHour(refreshing.events, refreshing.seconds)],
    ['  events per hour, all sites, links of 24 h (computed)', ((perRefresh * sites) / hoursBetween).toFixed(0)],
    ['  links that expired before their refresh', String(refreshing.ended)],
    ['  peak memory of the worker, MB', refreshing.peakMb.toFixed(0)],
    ['restart: seconds until the worker is ready', restart.readySeconds.toFixed(1)],
    ['  until the first overdue link is refreshed', restart.firstSeconds.toFixed(1)],
    ['  until all are refreshed', restart.allSeconds.toFixed(1)],
    ['  peak memory of the worker, MB', restart.peakMb.toFixed(0)],
  ]);
  return (
    `${facts}\none galley worker, Temporal's dev server on a database file\n` +
    `computed: a link of 24 h is refreshed every ${hoursBetween.toFixed(1)} h`
  );
}
