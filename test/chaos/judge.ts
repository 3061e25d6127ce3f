import type { SiteState } from '../../contract/site-state.ts';
import type { Command, Fault, History, PlaceSetup, View } from './history.ts';

/**
 * The model of a round: which histories are right, whatever the processes went through. It compares causes and effects, and
 * never how long something took.
 */

export type ViolationKind = 'lost' | 'doubled' | 'backwards' | 'mixed' | 'expired' | 'stuck' | 'leaked' | 'interrupted';

export type Violation = { kind: ViolationKind; what: string };

type Judge = (history: History) => string[];

const JUDGES: readonly [ViolationKind, Judge][] = [
  ['lost', lost],
  ['doubled', doubled],
  ['backwards', backwards],
  ['mixed', mixed],
  ['expired', expired],
  ['stuck', stuck],
  ['leaked', leaked],
  ['interrupted', interrupted],
];

export function judge(recorded: History): Violation[] {
  const history = { ...recorded, commands: recorded.commands.map((command) => asRestored(recorded, command)) };
  return JUDGES.flatMap(([kind, find]) => find(history).map((what) => ({ kind, what })));
}

/** The times whose changes a restored server has lost. */
function restoresOf({ faults }: History, victim?: string): Fault[] {
  return faults.filter((each) => each.kind === 'restore' && (victim === undefined || each.victim === victim));
}

function isLostAt(history: History, atMs: number): boolean {
  return restoresOf(history, 'temporal').some(({ fromMs, untilMs }) => fromMs <= atMs && atMs <= untilMs);
}

/** The effect of a command to a site is lost, or came again, if Temporal was restored. A pin is in a file. */
function asRestored(history: History, command: Command): Command {
  const { place, sentMs, answeredMs } = command;
  const isLost = place === null && (isLostAt(history, sentMs) || isLostAt(history, answeredMs ?? sentMs));
  return isLost ? { ...command, answeredMs: null } : command;
}

const isServing = ({ status }: View): boolean => status === 200;

function viewsOf({ views }: History, { name }: PlaceSetup): View[] {
  return views.filter((view) => view.place === name && isServing(view));
}

/** The edition of the start page. */
function editionOf({ pages }: View): number {
  return pages.find(({ path }) => path === '/')?.edition ?? -1;
}

function commandsOf({ commands }: History, { site, name }: PlaceSetup, ...actions: Command['action'][]): Command[] {
  return commands.filter(
    (each) => each.site === site && actions.includes(each.action) && (each.place === null || each.place === name),
  );
}

/** An accepted delivery is listed, and its edition or a newer one is served everywhere in the end. */
function lost(history: History): string[] {
  const found: string[] = [];
  for (const { site, deliveryId, acceptedMs, edition } of history.publishes) {
    const state = history.ending.sites[site]?.state;
    if (acceptedMs === null || state === undefined || isLostAt(history, acceptedMs)) continue;
    if (!state.deliveries.some(({ id }) => id === deliveryId))
      found.push(`${site} doesn't list the accepted delivery of edition ${edition}`);
  }
  for (const [site, { state }] of Object.entries(history.ending.sites)) found.push(...forgotten(site, state));
  // A round that isn't settled is stuck, which is said once.
  if (history.ending.unsettled.length > 0) return found;
  found.push(...uncollected(history));
  for (const place of history.places) {
    const editions = history.publishes.filter(({ site, acceptedMs }) => site === place.site && acceptedMs !== null);
    const newest = Math.max(...editions.map(({ edition }) => edition));
    for (const { path, edition } of viewsOf(history, place).at(-1)?.pages ?? []) {
      if (edition < newest)
        found.push(`${place.name} ends with edition ${edition} of ${path}, but ${newest} is published`);
    }
    if (viewsOf(history, place).length === 0) found.push(`${place.name} never served anything`);
  }
  return found;
}

/** The publishes that a site lists for an export are those that it began with: none was listed, but forgotten. */
function forgotten(site: string, { deliveries, exports }: SiteState): string[] {
  return exports.flatMap(({ number, publishCount }) => {
    const listed = deliveries.filter(({ exportNumber }) => exportNumber === number).length;
    if (listed <= publishCount) return [];
    return [`${site} lists ${listed} publishes for export ${number}, which began with ${publishCount}`];
  });
}

/** Each accepted delivery is in an export that completed. A later publish brings its page, so that visitors don't miss it. */
function uncollected(history: History): string[] {
  if (restoresOf(history, 'temporal').length > 0) return [];
  return Object.entries(history.ending.sites).flatMap(([site, { state }]) => {
    const accepted = history.publishes.filter((each) => each.site === site && each.acceptedMs !== null).length;
    const count = publishesOf(state);
    return count < accepted ? [`${site} exported ${count} publishes, but ${accepted} were accepted`] : [];
  });
}

/** The publishes of an export that failed or was replaced are collected again. */
function publishesOf({ exports }: SiteState): number {
  const collected = exports.filter(({ exportedAt }) => exportedAt !== null);
  return collected.reduce((sum, { publishCount }) => sum + publishCount, 0);
}

/** One delivery is collected once, however often it was sent, and no job completes without a cause, or unknown to its site. */
function doubled(history: History): string[] {
  const { publishes, commands, ending } = history;
  return Object.entries(ending.sites).flatMap(([site, { state, completedJobs }]) => {
    const found: string[] = [];
    const sent = publishes.filter((each) => each.site === site).length;
    const collecting = state.deliveries.filter(({ outcome }) => outcome === 'started' || outcome === 'coalesced');
    for (const id of repeated(collecting.map((each) => each.id)))
      found.push(`${site} collected the delivery ${id} twice`);
    const count = publishesOf(state);
    if (count > sent) found.push(`${site} exported ${count} publishes, but ${sent} were sent`);
    // What was done since is done again.
    if (restoresOf(history).length > 0) return found;
    const requests = commands.filter((each) => each.site === site && each.action === 'export').length;
    const lostBundles = state.exports.filter(({ trigger }) => trigger === 'lost-bundle').length;
    // After the platform's clock was set back, a new job seems older than the last one, and is exported once more.
    const setBacks = history.faults.filter(
      ({ victim, kind }) => /^platform/.test(victim) && /^clock/.test(kind),
    ).length;
    const causes = sent + requests + lostBundles + setBacks;
    if (completedJobs.length > causes)
      found.push(`${site} completed ${completedJobs.length} exports, but had ${causes} causes`);
    const known = new Set(state.exports.map(({ jobId }) => jobId));
    // The job of an export that was given up while it started.
    const unnamed = state.exports.filter(({ jobId }) => jobId === null).length;
    const unknown = completedJobs.filter((jobId) => !known.has(jobId));
    if (unknown.length > unnamed) found.push(`${site} doesn't know of its jobs ${unknown.join(', ')}`);
    return found;
  });
}

function repeated(values: readonly string[]): Set<string> {
  return new Set(values.filter((value, index) => values.indexOf(value) !== index));
}

/** A place goes back only to what an operator asked for, or after a rollback that the site lists. */
function backwards(history: History): string[] {
  return history.places.flatMap((place) => {
    const views = viewsOf(history, place);
    return views.flatMap((view, index) => {
      const before = views[index - 1];
      if (before === undefined || editionOf(view) >= editionOf(before)) return [];
      if (isAsked(history, place, view) || isRolledBack(history, place, before)) return [];
      // The list of what was rolled back may be lost.
      if (isLostAt(history, view.fromMs)) return [];
      return [`${place.name} went from edition ${editionOf(before)} to ${editionOf(view)} (${view.fromMs} ms)`];
    });
  });
}

function isAsked(history: History, place: PlaceSetup, view: View): boolean {
  const asked = commandsOf(history, place, 'rollback', 'pin');
  return asked.some(({ edition, sentMs }) => edition === editionOf(view) && sentMs <= view.untilMs);
}

function isRolledBack({ ending }: History, { site }: PlaceSetup, { jobId }: View): boolean {
  const exports = ending.sites[site]?.state.exports ?? [];
  return exports.some((each) => each.rolledBackAt !== null && (jobId === null || each.jobId === jobId));
}

/** A page is whole, and what a job serves at a path never changes. */
function mixed({ views }: History): string[] {
  const editions = new Map<string, number>();
  const found: string[] = [];
  for (const { place, jobId, pages } of views.filter(isServing)) {
    for (const { path, edition, isWhole } of pages) {
      if (!isWhole) found.push(`${place} served only a part of ${path}`);
      const key = `${jobId} ${path}`;
      const known = editions.get(key) ?? edition;
      editions.set(key, known);
      if (jobId !== null && known !== edition)
        found.push(`${place} served edition ${edition} as ${path} of ${jobId}, which has ${known}`);
    }
  }
  return found;
}

/** Each delivery is accepted when the faults are over, and everything settles. */
function stuck({ publishes, ending }: History): string[] {
  if (ending.isMoving) return [];
  const refused = publishes.filter(({ acceptedMs }) => acceptedMs === null);
  return [
    ...ending.unsettled,
    ...refused.map(({ site, edition }) => `edition ${edition} of ${site} was never accepted`),
  ];
}

/** In the end every link is valid, except where a person has to merge it. */
function expired({ ending, places }: History): string[] {
  const merged = new Set(places.filter(({ awaits }) => awaits === 'merge').map(({ name }) => name));
  return Object.entries(ending.sites).flatMap(([site, { state, now }]) =>
    state.deployments.flatMap(({ name, linkExpiresAt }) =>
      linkExpiresAt !== null && !merged.has(name) && Date.parse(linkExpiresAt) <= Date.parse(now)
        ? [`the link of ${site} at ${name} expired at ${linkExpiresAt}`]
        : [],
    ),
  );
}

/** No site shows another one's content, and nothing is served against an operator's decision. */
function leaked(history: History): string[] {
  const found = [...history.ending.leftovers];
  for (const place of history.places) {
    const rejected = rejectedJobs(history, place);
    for (const view of viewsOf(history, place)) {
      const foreign = view.pages.find(({ site }) => site !== place.site);
      if (foreign) found.push(`${place.name} shows ${foreign.path} of ${foreign.site}`);
      const edition = editionOf(view);
      if (view.jobId !== null && rejected.has(view.jobId))
        found.push(`${place.name} shows edition ${edition}, whose export was rejected`);
      if (isWithheld(history, place, view)) found.push(`${place.name} shows edition ${edition} although it is held`);
      if (isEarly(history, place, view)) found.push(`${place.name} shows edition ${edition} before the wave before it`);
      if (place.awaits !== null && !isDecided(history, place, view))
        found.push(`${place.name} shows edition ${edition}, for which nobody did ${place.awaits}`);
    }
  }
  return [...new Set(found)];
}

function rejectedJobs({ ending }: History, { site }: PlaceSetup): Set<string | null> {
  const exports = ending.sites[site]?.state.exports ?? [];
  const rejected = exports.filter(({ outcome, writtenAt }) => outcome === 'rejected' && writtenAt === null);
  return new Set(rejected.map(({ jobId }) => jobId));
}

/** Edited after a lock or a pin took effect, and seen before its end was asked for. */
function isWithheld(history: History, place: PlaceSetup, view: View): boolean {
  const editedMs = history.edits[place.site]?.[editionOf(view)] ?? 0;
  return (
    isBetween(commandsOf(history, place, 'lock', 'unlock'), 'lock', editedMs, view) ||
    isBetween(commandsOf(history, place, 'pin', 'unpin'), 'pin', editedMs, view)
  );
}

function isBetween(commands: Command[], begin: Command['action'], editedMs: number, view: View): boolean {
  return commands.some(({ action, status, answeredMs }, index) => {
    if (action !== begin || status !== 200 || answeredMs === null || editedMs < answeredMs) return false;
    // An end without a response may take effect at any later time.
    if (commands.slice(0, index).some((each) => each.action !== begin && each.answeredMs === null)) return false;
    const end = commands.slice(index + 1).find((each) => each.action !== begin);
    return view.fromMs < (end?.sentMs ?? Number.POSITIVE_INFINITY);
  });
}

/** A visitor who came later to a deployment of an earlier wave still saw older editions there, and none before saw it. */
function isEarly(history: History, place: PlaceSetup, view: View): boolean {
  const before = history.places.filter(({ site, wave }) => site === place.site && wave < place.wave);
  return before.some((each) => {
    const views = viewsOf(history, each);
    const first = views.findIndex((other) => editionOf(other) >= editionOf(view));
    return views.slice(0, first === -1 ? undefined : first).some(({ lastFromMs }) => lastFromMs > view.seenMs);
  });
}

/** A decision after the edit is at least not one of an earlier version. A rollback needs no approval, but a merge. */
function isDecided(history: History, place: PlaceSetup, view: View): boolean {
  const editedMs = history.edits[place.site]?.[editionOf(view)] ?? 0;
  const given = commandsOf(history, place, ...(place.awaits === 'merge' ? ['merge' as const] : DECISIONS));
  return given.some(
    ({ action, sentMs, edition }) =>
      sentMs <= view.untilMs && (action === 'rollback' ? edition === editionOf(view) : sentMs >= editedMs),
  );
}

const DECISIONS = ['approve', 'rollback'] as const;

/** A place that has served goes on, except while its own process is down. */
function interrupted(history: History): string[] {
  return history.places.flatMap((place) => {
    const own = history.faults.filter(({ victim }) => victim === place.name);
    const first = viewsOf(history, place)[0]?.fromMs ?? Number.POSITIVE_INFINITY;
    return history.views
      .filter((view) => view.place === place.name && view.fromMs > first && !isServing(view))
      .filter((view) => view.status !== 'refused' || !own.some((fault) => overlap(fault, view)))
      .map(({ status, fromMs }) => `${place.name} responded with ${status} (${fromMs} ms)`);
  });
}

function overlap(one: { fromMs: number; untilMs: number }, other: { fromMs: number; untilMs: number }): boolean {
  return one.fromMs <= other.untilMs && other.fromMs <= one.untilMs;
}
