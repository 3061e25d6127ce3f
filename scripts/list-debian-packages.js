// For the image: adds Debian's packages to its list of contents, which `npm sbom` made.
//   node scripts/list-debian-packages.js /var/lib/dpkg/status sbom.spdx.json
import { readFileSync, writeFileSync } from 'node:fs';

const [status = '', file = ''] = process.argv.slice(2);
const list = JSON.parse(readFileSync(file, 'utf8'));
for (const paragraph of readFileSync(status, 'utf8').split('\n\n')) {
  const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1];
  if (field('Status') !== 'install ok installed') continue;
  const [name, version, architecture] = ['Package', 'Version', 'Architecture'].map(field);
  // An identifier has letters, digits, `.` and `-` only.
  const SPDXID = `SPDXRef-Debian-${name}-${architecture}`.replaceAll(/[^A-Za-z0-9.-]/g, '-');
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  list.packages.push({
    name,
    SPDXID,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  });
  list.relationships.push({
    spdxElementId: 'SPDXRef-DOCUMENT',
    relatedSpdxElement: SPDXID,
    relationshipType: 'DESCRIBES',
  });
}
writeFileSync(file, JSON.stringify(list));
