import { SiteListView } from '../../../api/pages/site-list-page.tsx';
import { SitePage } from '../../../api/pages/site-page.tsx';
import { describeBriefly, describeInFull } from '../../../cli/sites/describe-site.ts';
import { deploymentWords, phaseWords } from '../../../contract/site-words.ts';
import { renderPart } from '../../../ui/page.tsx';
import { lockSite } from '../../../workflows/export-site/jobs.ts';
import type { MutableState } from '../../../workflows/export-site/state.ts';
import { siteStateWithHistories } from '../../../workflows/export-site/status.ts';
import { holdForReview } from '../../../workflows/export-site/transitions.ts';
import { has, jobOf, NOW_MS, rolledBackTo, SETTINGS, siteOf, timeOf } from '../../workflows/export-site/build-state.ts';
import { SIGNED, siteListData, siteView } from './sample-pages.tsx';

const LOCK = { by: 'ada', at: timeOf(0), reason: 'a launch' };
const withheld = { jobId: 'j2', why: 'it said so', at: timeOf(9_000) };

/** Sites whose newest version v2 isn't the current one, with what visitors get: of the site, and of each deployment. */
const SITES: Record<string, [state: MutableState, version: string | null, deployments: Record<string, string | null>]> =
  {
    'rolled back': [withState(siteOf(2, { docs: has(1) }), (state) => rolledBackTo(state, 1)), 'v1', { docs: 'v1' }],
    pinned: [siteOf(2, { docs: has(1, { pin: 'v1' }) }), 'v1', { docs: 'v1' }],
    off: [siteOf(2, { docs: has(1, { off: true }) }), 'v2', { docs: 'v1' }],
    locked: [withState(siteOf(1, { docs: has(1) }), lockAndExport), 'v1', { docs: 'v1' }],
    'half deployed': [
      siteOf(2, { docs: has(2), prod: has(1, { wave: 2, approve: true }) }),
      'v2',
      { docs: 'v2', prod: 'v1' },
    ],
    'not served and rolled back by itself': [siteOf(2, { docs: has(1, { withheld }) }), 'v1', { docs: 'v1' }],
    rejected: [siteOf(2, { docs: has(1, { approve: true, rejected: 'j2' }) }), 'v1', { docs: 'v1' }],
    'in review': [
      withState(siteOf(1, { docs: has(1) }), (state) => holdForReview(state, jobOf(2), ['fewer pages'])),
      'v1',
      { docs: 'v1' },
    ],
  };

function withState(state: MutableState, change: (state: MutableState) => void): MutableState {
  change(state);
  return state;
}

function lockAndExport(state: MutableState): void {
  lockSite(state, LOCK);
  state.jobs.push(jobOf(2));
}

/** The text of a page, its parts separated by a bar. */
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '|').replaceAll(/(\s*\|\s*)+/g, '|');

describe.each(Object.entries(SITES))('a site that is %s', (_name, [state, version, deployments]) => {
  const shown = siteStateWithHistories({ site: 'handbook', state, settings: SETTINGS, isWriting: () => false });
  const status = { ...shown, current: true, rejected: [] };
  const now = new Date(NOW_MS + 20_000);
  const words = phaseWords(status.phase);

  it('has the version that visitors get in GET /sites/{site}', () => {
    expect(status.version).toBe(version);
    expect(Object.fromEntries(status.deployments.map((each) => [each.name, each.version]))).toEqual(deployments);
  });

  it('has the same version and words in commands', () => {
    expect(describeBriefly(status)).toMatch(new RegExp(`^handbook: ${words.toLowerCase()}, version ${version}\\b`));
    const full = describeInFull(status, { urls: new Map(), now }).join('\n');
    expect(full).toContain(`handbook: ${words.toLowerCase()}\n`);
    expect(full).toMatch(new RegExp(`^ +version +${version}$`, 'm'));
    for (const each of status.deployments) {
      const place = `${each.name}( \\(wave \\d\\))?: ${deploymentWords(each).toLowerCase()}`;
      expect(full).toMatch(new RegExp(`${place}[^,]*, ${each.version}\\b`));
    }
  });

  it('has them on its page and in the list of sites', () => {
    const page = textOf(renderPart(<SitePage signed={SIGNED} view={siteView(status, { now })} />));
    expect(page).toContain(`|${words}|`);
    for (const each of status.deployments) {
      const row = `\\|${each.name}\\|(wave \\d\\|)?${deploymentWords(each)}\\|${each.version}\\|`;
      expect(page).toMatch(new RegExp(row));
    }
    expect(page).toContain(`|Version|${version}|`);
    const { site, phase, linkExpiresAt } = status;
    const row = { site, domain: undefined, phase, version: status.version, linkExpiresAt };
    const list = siteListData({ attention: [], sites: [row] });
    const listed = textOf(
      renderPart(<SiteListView signed={SIGNED} list={list} query={{ search: '', phase: '', after: '' }} now={now} />),
    );
    expect(listed).toContain(`|handbook|${words}|${version}|`);
  });
});
