import { type BundleManifest, MANIFEST_PATH, SIGNATURE_PATH } from '../../contract/bundle.ts';
import { withHeadLength } from '../../contract/bundle-head.ts';
import { gzipMember, trailerMember } from '../../exporter/assemble/archive/members.ts';
import { type BundleSpec, manifestOf } from './bundles.ts';

type Options = {
  sign?: (manifest: Buffer) => string;
  /** Changes a member before its place is noted. */
  spoil?: (path: string, member: Buffer) => Buffer;
};

/** A bundle as the exporter packs it, each file a member of its own; the manifest says where. */
export async function buildMemberBundle(spec: BundleSpec, { sign, spoil }: Options = {}): Promise<Buffer> {
  const manifest = manifestOf(spec);
  const members: Buffer[] = [];
  const files: BundleManifest['files'] = [];
  let offset = 0;
  for (const file of manifest.files) {
    const entry = { ...file, bytes: Buffer.from(spec.files[file.path] ?? '') };
    const made = Buffer.from((await gzipMember([entry])).bytes);
    const member = spoil?.(file.path, made) ?? made;
    members.push(member);
    files.push({ ...file, offset, length: member.length });
    offset += member.length;
  }
  const contentType = 'text/plain';
  const text = Buffer.from(JSON.stringify({ ...manifest, files }, null, 1));
  const first = await gzipMember([{ path: MANIFEST_PATH, bytes: text, contentType }]);
  const signature = sign && (await gzipMember([{ path: SIGNATURE_PATH, bytes: Buffer.from(sign(text)), contentType }]));
  const rest = signature === undefined ? [] : [signature.bytes];
  const head = withHeadLength(first.bytes, signature?.bytes.length ?? 0);
  return Buffer.concat([head, ...rest, ...members, await trailerMember()]);
}
