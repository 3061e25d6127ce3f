import type { DeploymentReport, DeploymentWrite } from './deployment-target.ts';
import { editValues, openValues, readSwitches, repeatedKeyIn } from './edit-values.ts';
import type { Sidecar } from './sidecar.ts';
import { orderOf, ownerOf, refusalOf, writtenReport } from './write-order.ts';

/** What a write does to a values file and its sidecar; `refused`: nothing. */
export type PlannedEdit =
  | { kind: 'refused'; report: DeploymentReport }
  | {
      kind: 'edit';
      text: string;
      sidecar: Sidecar;
      /** The write is the first deploy, which switches the deployment on. */
      enabling: boolean;
      report: DeploymentReport;
    };

/**
 * Plans the edit of a values file with this text and sidecar (null for none).
 * @throws ValuesFileError if only a person can fix the file
 */
export function planEdit(write: DeploymentWrite, text: string, current: Sidecar | null): PlannedEdit {
  const values = openValues(text);
  const { pin, off: disabled } = readSwitches(values);
  const deployedBefore = current === null ? write.deployedBefore === true : !current.enabling;
  const off = disabled && deployedBefore;
  const refused = (outcome: DeploymentReport['outcome']): PlannedEdit => {
    const owner = current && ownerOf(current);
    const report = { outcome, pin, off, jobId: current?.jobId ?? null, owner, bundlePath: null };
    return { kind: 'refused', report };
  };

  const { version } = write;
  const refusal = refusalOf(write, current);
  if (refusal !== null) return refused(refusal);
  // A fresh link of the job that is there changes no version, so it ignores the pin.
  const isPinIgnored = write.kind === 'refresh' && current !== null;
  if (!isPinIgnored && write.newest && pin !== null && !servesPin(pin, write, current)) return refused('held');
  const isUnpinned = pin === null || (version !== null && pin !== version);
  if (!isPinIgnored && !write.newest && isUnpinned) return refused('unpinned');
  // Only the first deploy enables the export, or a fresh link of it while it isn't there yet. If an operator disables it
  // later, the link stays fresh and `enabled` stays false.
  const enables = !off && (write.kind === 'deploy' || current?.enabling === true);
  const edited = editValues(values, {
    enabled: enables ? true : undefined,
    bundleUrl: write.bundleUrl,
    integrity: write.integrity,
  });
  const warning = repeatedKeyIn(values);
  return {
    kind: 'edit',
    text: edited,
    sidecar: { ...orderOf(write, current), enabling: false },
    enabling: disabled && enables,
    report: { ...writtenReport(write), pin, off, ...(warning !== undefined && { warning }) },
  };
}

/** If the service gives no versions, a pin can only mean: keep what is deployed. */
function servesPin(pin: string, write: DeploymentWrite, current: Sidecar | null): boolean {
  if (write.version !== null) return pin === write.version;
  return current === null || current.jobId === write.jobId;
}
