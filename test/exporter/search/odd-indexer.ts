/** A program in the place of the one that makes a search index. The last page's text says what it does. */
import { readdirSync, readlinkSync } from 'node:fs';
import { serveBoundedJobs } from '../../../base/bounded-program.ts';
import type { IndexWork } from '../../../exporter/search/index-messages.ts';

let last = '';

await serveBoundedJobs<IndexWork>(async (job) => {
  if ('page' in job) {
    if (job.page.path === 'index.html') last = job.page.html;
    return { isAdded: true };
  }
  if (last.includes('crash')) process.kill(process.pid, 'SIGSEGV');
  if (last.includes('hang')) while (true);
  if (last.includes('environment')) throw new Error(JSON.stringify(Object.keys(process.env).sort()));
  const descriptors = readdirSync('/proc/self/fd').map((each) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`);
    } catch {
      return '';
    }
  });
  throw new Error(JSON.stringify(descriptors));
});
