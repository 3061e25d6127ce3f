import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Git } from '../../../forge/git/git.ts';
import type { AgentRunKey, AgentRunOutcome } from '../../store/agent-runs.ts';
import type { AgentContext } from './agent-deps.ts';
import type { AgentOutcome } from './agent-runner.ts';
import { keepTrying } from './keep-trying.ts';
import { maskSecrets } from './mask-secrets.ts';
import { packKey } from './object-keys.ts';
import { plainText, type RunLog } from './run-log.ts';

/** How much of the output a failed job's error includes. */
const TAIL_CHARACTERS = 2_000;

type Left = AgentRunKey & {
  outcome: AgentOutcome;
  log: RunLog;
  git: Git;
  repositoryDir: string;
  scratchDir: string;
  commit: string;
  signal: AbortSignal;
};

/**
 * An outcome as the row stores it: the pack goes to the object store; a failure has its reason and the end of the
 * output. A pack that is missing or too large is a failure too. The pack is checked when it is used.
 */
export async function storableOutcome(context: AgentContext, left: Left): Promise<AgentRunOutcome> {
  const { outcome } = left;
  if (outcome.kind === 'unchanged') return outcome;
  if (outcome.kind === 'failed') return failed(context, left, outcome.error);
  const { stdout } = await left.git(['rev-parse', '--verify', `${left.commit}^{tree}`], { dir: left.repositoryDir });
  if (stdout.trim() === outcome.tree) return { kind: 'unchanged' };

  const packFile = resolve(left.scratchDir, outcome.packFile);
  const info = await lstat(packFile).catch(() => undefined);
  if (relative(left.scratchDir, packFile).startsWith('..') || info === undefined || !info.isFile()) {
    return failed(context, left, 'The agent left no pack of its changes');
  }
  if (info.size > context.maxPackBytes) {
    return failed(context, left, `The agent's change is larger than ${context.maxPackBytes} bytes`);
  }
  if (!/^[0-9a-f]{40,64}$/.test(outcome.tree)) return failed(context, left, 'The agent left no tree');
  const key = packKey(left.jobId, left.run, outcome.tree);
  const options = { contentType: 'application/octet-stream', sizeBytes: info.size };
  await keepTrying(left.signal, () => context.objects.put(key, createReadStream(packFile), options));
  return { kind: 'changed', tree: outcome.tree, packKey: key };
}

function failed({ secrets }: AgentContext, { log }: Left, reason: string): AgentRunOutcome {
  const tail = log.tail(TAIL_CHARACTERS);
  const sentence = plainText(maskSecrets(reason, secrets));
  return { kind: 'failed', error: tail === '' ? sentence : `${sentence}\n\n${tail}` };
}
