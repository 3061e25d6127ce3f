import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Document, isAlias, isMap, isScalar, parseDocument } from 'yaml';
import { errorCode } from '../../base/error-code.ts';
import { reason } from '../../bundle/errors.ts';
import { createVerifier, EXPECTED_PUBLIC_KEY } from '../../contract/signing.ts';
import {
  AVAILABILITY,
  DEPLOYMENT_KINDS,
  type DeploymentValues,
  deploymentValues,
  isSwitchedOff,
  MAX_VALUES_BYTES,
  staticExportValues,
} from '../../contract/values-file.ts';
import { nestsTooDeep } from '../../contract/yaml-nesting.ts';
import { nodeOfKey, repeatedInGroup } from '../../contract/yaml-values.ts';
import { ValuesReadError } from '../errors.ts';
import { unavailableFeature } from './capabilities.ts';

/** What the operator and the orchestrator ask of this deployment. `link` is set if `enabled` is. */
export type Wanted = { settings: DeploymentValues } & (
  | { enabled: false }
  | {
      enabled: true;
      link: URL;
      version: string | undefined;
      /** The key that bundles must be signed for, and the manifest that the link's bundle must have. */
      publicKey: string | undefined;
      integrity: string | undefined;
    }
);

const TOO_LARGE = 'expected a values file of at most 1 MiB';

/** The settings of a values file without a group `deployment`. */
export const DEFAULT_SETTINGS: DeploymentValues = deploymentValues.parse({});

/**
 * Reads the `staticExport` group of a values file and ignores other keys. Without the group, static export is off, as
 * with `enabled: false`; the same for an empty file if `emptyIsOff`. Undefined if there is no file.
 * @throws ValuesReadError naming the key and what was expected
 */
export async function readValuesFile(
  file: string,
  { emptyIsOff }: { emptyIsOff: boolean },
): Promise<Wanted | undefined> {
  let bytes: Buffer;
  try {
    // Don't load a file of gigabytes only to refuse it.
    if ((await stat(file)).size > MAX_VALUES_BYTES) throw new ValuesReadError(file, null, TOO_LARGE);
    bytes = await readFile(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (error instanceof ValuesReadError) throw error;
    throw new ValuesReadError(file, null, `can't be read (${reason(error)})`);
  }
  if (bytes.length === 0 && !emptyIsOff) throw new ValuesReadError(file, null, 'the file is empty');
  return parseValues(bytes.toString('utf8'), file);
}

/** The same for a text; `file` is only for errors. */
export function parseValues(text: string, file: string): Wanted {
  if (Buffer.byteLength(text) > MAX_VALUES_BYTES) throw new ValuesReadError(file, null, TOO_LARGE);
  if (nestsTooDeep(text)) throw new ValuesReadError(file, null, 'expected YAML (it nests too deep)');
  const document = parseDocument(text, { uniqueKeys: false });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new ValuesReadError(file, null, `expected YAML (${problem.message.split('\n')[0] ?? problem.code})`);
  }
  if (isNothing(document.contents)) return { enabled: false, settings: DEFAULT_SETTINGS };
  if (!isMap(document.contents)) throw new ValuesReadError(file, null, 'expected keys such as "staticExport:"');
  const settings = parseSettings(document, file);
  const group = nodeOfKey(document, document.contents, 'staticExport');
  if (isNothing(group)) return { enabled: false, settings };
  if (!isMap(group))
    throw new ValuesReadError(file, 'staticExport', 'expected the keys enabled, bundleUrl and version');
  const repeated = repeatedInGroup(document, 'staticExport');
  if (repeated !== undefined) throw new ValuesReadError(file, 'staticExport', `expected the key ${repeated.key} once`);

  const enabledAs = resolvedValue(document, 'enabled', file) ?? false;
  const parsed = staticExportValues.safeParse({
    enabled: isSwitchedOff(enabledAs) ? false : enabledAs,
    bundleUrl: blankAsAbsent(resolvedValue(document, 'bundleUrl', file)),
    // As written: YAML reads 1.10 as the number 1.1, but the operator means the version "1.10".
    version: blankAsAbsent(sourceText(nodeOf(document, 'version', file), file)),
    publicKey: blankAsAbsent(resolvedValue(document, 'publicKey', file)),
    integrity: blankAsAbsent(resolvedValue(document, 'integrity', file)),
  });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const key = ['staticExport', ...(issue?.path ?? [])].join('.');
    throw new ValuesReadError(file, key, EXPECTED[key] ?? issue?.message ?? 'unexpected value');
  }
  const { enabled, bundleUrl, version, publicKey, integrity } = parsed.data;
  if (publicKey !== undefined) checkPublicKey(publicKey, file);
  if (!enabled) return { enabled: false, settings };
  if (bundleUrl === undefined) {
    throw new ValuesReadError(file, 'staticExport.bundleUrl', 'expected a link, as staticExport.enabled is true');
  }
  const link = readLink(bundleUrl, file);
  if (settings.kind === 'air-gapped' && link.protocol !== 'file:') {
    throw new ValuesReadError(
      file,
      'staticExport.bundleUrl',
      'expected a file link such as file:///srv/bundle.tar.gz, because an air-gapped deployment makes no outside request',
    );
  }
  return { enabled: true, link, version, publicKey, integrity, settings };
}

/** Keys of `staticExport`, whether the export is enabled or not. */
type WrittenKeys = {
  publicKey: string | undefined;
  link: URL | undefined;
  /** The pin. */
  version: unknown;
  integrity: boolean;
};

/**
 * Reads keys that apply to an import; `integrity`: whether there is one.
 * @throws ValuesReadError if `publicKey` is no public key
 */
export function readWrittenKeys(text: string, file: string): WrittenKeys {
  const document = parseDocument(text, { uniqueKeys: false });
  const written = (name: string): unknown => blankAsAbsent(resolvedValue(document, name, file));
  const [publicKey, bundleUrl] = [written('publicKey'), written('bundleUrl')];
  if (publicKey !== undefined) {
    if (typeof publicKey !== 'string') throw new ValuesReadError(file, 'staticExport.publicKey', EXPECTED_PUBLIC_KEY);
    checkPublicKey(publicKey, file);
  }
  const link = typeof bundleUrl === 'string' && URL.canParse(bundleUrl) ? new URL(bundleUrl) : undefined;
  const version = blankAsAbsent(sourceText(nodeOf(document, 'version', file), file));
  return { publicKey, link, version, integrity: written('integrity') !== undefined };
}

/** The group `deployment`. Charts have keys of their own in there, which are ignored. */
function parseSettings(document: Document, file: string): DeploymentValues {
  const group = nodeOfKey(document, document.contents, 'deployment');
  if (isNothing(group)) return DEFAULT_SETTINGS;
  if (!isMap(group)) throw new ValuesReadError(file, 'deployment', 'expected the keys kind, features and headers');
  const written: unknown = group.toJS(document);
  const parsed = deploymentValues.safeParse(written);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const key = ['deployment', ...(issue?.path ?? [])].join('.');
    // A record's key has a message of its own inside.
    const message = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
    const expected = key === 'deployment.kind' ? `expected one of ${DEPLOYMENT_KINDS.join(', ')}` : message;
    throw new ValuesReadError(file, key, expected ?? 'unexpected value');
  }
  const missing = unavailableFeature(parsed.data);
  if (missing !== undefined) {
    const { kind } = parsed.data;
    const kinds = DEPLOYMENT_KINDS.filter((each) => AVAILABILITY[each][missing] !== 'no').join(', ');
    throw new ValuesReadError(
      file,
      `deployment.features.${missing}`,
      `not available in a deployment of the kind ${kind}, only in ${kinds}`,
    );
  }
  return parsed.data;
}

const EXPECTED_VERSION = 'expected the text of a version such as "2026-11-21.3"';
const EXPECTED: Record<string, string> = {
  'staticExport.enabled': 'expected true or false',
  'staticExport.bundleUrl': 'expected an http, https or file link',
  'staticExport.version': EXPECTED_VERSION,
  'staticExport.publicKey': EXPECTED_PUBLIC_KEY,
};

function checkPublicKey(publicKey: string, file: string): void {
  try {
    createVerifier(publicKey);
  } catch {
    throw new ValuesReadError(file, 'staticExport.publicKey', EXPECTED_PUBLIC_KEY);
  }
}

/** The node of a key of `staticExport`, also through an anchor: values files often share their values by them. */
function nodeOf(document: Document, name: string, file: string): unknown {
  const group = nodeOfKey(document, document.contents, 'staticExport');
  const node = nodeOfKey(document, group, name);
  if (!isAlias(node)) return node;
  throw new ValuesReadError(file, `staticExport.${name}`, `expected an anchor &${node.source} before its alias`);
}

function resolvedValue(document: Document, name: string, file: string): unknown {
  const node = nodeOf(document, name, file);
  return isScalar(node) ? node.value : node;
}

/** A part that is missing, or that has only comments. */
function isNothing(node: unknown): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null);
}

function blankAsAbsent(value: unknown): unknown {
  return value === null || value === '' ? undefined : value;
}

function sourceText(node: unknown, file: string): unknown {
  if (node === undefined) return undefined;
  if (!isScalar(node)) throw new ValuesReadError(file, 'staticExport.version', EXPECTED_VERSION);
  if (typeof node.value === 'string' || node.value === null) return node.value;
  return node.source ?? String(node.value);
}

function readLink(text: string, file: string): URL {
  const link = new URL(text);
  if (link.protocol !== 'file:') return link;
  try {
    fileURLToPath(link);
    return link;
  } catch {
    throw new ValuesReadError(file, 'staticExport.bundleUrl', 'expected a file link such as file:///srv/bundle.tar.gz');
  }
}
