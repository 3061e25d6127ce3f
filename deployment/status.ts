import { linkFingerprint } from '../bundle/fetch/link.ts';
import { integrityOf } from '../contract/integrity.ts';
import type { DeploymentKind } from '../contract/values-file.ts';
import type { FollowerReport } from './fetch/follower.ts';
import type { Served } from './fetch/served.ts';
import type { ValuesState } from './values/watch-values.ts';

/** The response of `GET /-/status`. Times are RFC 3339; all fields about the version are null while none is served. */
export type DeploymentStatus = {
  /** `off`: switched off in the values file; `empty`: nothing to serve yet. */
  state: 'serving' | 'empty' | 'off';
  /** `deployment.kind` in the values file. */
  kind: DeploymentKind;
  version: string | null;
  /** Null, like `domain`, if the bundle has no manifest. */
  jobId: string | null;
  domain: string | null;
  pageCount: number | null;
  contentSha256: string | null;
  /** Says which link the version came from, without its signature (`resourceFingerprint`). */
  bundlePath: string | null;
  /** When this deployment began to serve this version; a restart doesn't change it. */
  since: string | null;
  /** True if what is served isn't, or isn't known to be, what the values file asks for. */
  stale: boolean;
  /** The version that `staticExport.version` pins. */
  pinnedVersion: string | null;
  /** Why the last attempt failed; null after a success. `status` is the HTTP status of the bundle's error response. */
  lastError: { message: string; status: number | null; at: string } | null;
  /** When the served version last matched the values file. */
  checkedAt: string | null;
  /** When a failed attempt is retried; a change of the values file is acted on immediately. */
  nextTryAt: string | null;
  download: { receivedBytes: number; totalBytes: number | null } | null;
  /** What the current attempt waits for, and since when nothing of it has arrived. */
  waiting: { for: string; since: string } | null;
};

export function describeStatus(
  served: Served | undefined,
  report: FollowerReport | undefined,
  values: ValuesState | undefined,
  kind: DeploymentKind,
): DeploymentStatus {
  const site = served?.site();
  const state = served?.state();
  const isOff = state?.enabled === false;
  const manifest = site?.manifest;
  return {
    state: isOff ? 'off' : site === undefined ? 'empty' : 'serving',
    kind,
    version: manifest?.version ?? null,
    jobId: manifest?.foreign === undefined ? (manifest?.jobId ?? null) : null,
    domain: manifest?.foreign === undefined ? (manifest?.domain ?? null) : null,
    pageCount: manifest?.pageCount ?? null,
    contentSha256: manifest?.contentSha256 ?? null,
    bundlePath: state?.current?.resourceFingerprint || null,
    since: state?.current?.since ?? null,
    stale: isStale(served, values),
    pinnedVersion: pinOf(values) ?? null,
    lastError: report?.problem ?? null,
    checkedAt: report?.checkedAt ?? null,
    nextTryAt: report?.nextTryAt ?? null,
    download: report?.download ?? null,
    waiting: report?.waiting ?? null,
  };
}

function isStale(served: Served | undefined, values: ValuesState | undefined): boolean {
  if (served === undefined || values === undefined || values.kind === 'unreadable') return true;
  const { wanted } = values;
  if (!wanted.enabled) return served.state().enabled;
  const site = served.site();
  if (site === undefined || (wanted.version ?? site.manifest.version) !== site.manifest.version) return true;
  const { version, integrity } = wanted;
  if (version === undefined && integrity !== undefined && integrityOf(site.manifestSha256) !== integrity) return true;
  return served.state().current?.linkFingerprint !== linkFingerprint(wanted.link);
}

function pinOf(values: ValuesState | undefined): string | undefined {
  return values?.kind === 'wanted' && values.wanted.enabled ? values.wanted.version : undefined;
}
