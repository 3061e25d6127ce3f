/** A program in the place of the one that makes a search index. The last page's text says what it does. */
import { readdirSync, readlinkSync } from 'node:fs';
import { serveJobs } from '../../../base/job-program.ts';
import type { IndexWork } from '../../../exporter/search/index-messages.ts';

let last = '';

serveJobs<IndexWork>(async (job) => {
  if ('page' in job) {
    if (job.page.path === 'index.html') last = job.page.html;
    return { isAdded: true };
  }
  if (last.includes('crash')) process.kill(process.pid, 'SIGSEGV');
  if (last.includes('hang')) while (true);
  if (last.includes('environment')) return { error: JSON.stringify(Object.keys(process.env).sort()) };
  const descriptors = readdirSync('/proc/self/fd').map((each) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`);
    } catch {
      return '';
    }
  });
  return { error: JSON.stringify(descriptors) };
});
