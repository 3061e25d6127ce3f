import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SiteHandler } from '../../../../helpers/http-site.ts';
import { staticHost as plainHost } from '../vitepress-site.ts';

/** As `staticHost`; with `redirectFolders` a folder's address without its last slash leads to the one with it. */
export function originHost(
  folder: string,
  { redirectFolders, cleanUrls }: { redirectFolders?: boolean; cleanUrls?: boolean },
): SiteHandler {
  const answer = plainHost(folder, { cleanUrls: cleanUrls === true });
  return (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://host.invalid');
    const found = statSync(join(folder, decodeURIComponent(pathname)), { throwIfNoEntry: false });
    if (redirectFolders === true && found?.isDirectory() === true && !pathname.endsWith('/')) {
      response.writeHead(301, { location: `${pathname}/${search}` }).end();
      return;
    }
    return answer(request, response);
  };
}
