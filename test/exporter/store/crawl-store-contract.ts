import { bundleContract } from './bundle.contract.ts';
import type { CrawlStoreFixture } from './crawl-fixture.ts';
import { frontierContract } from './frontier.contract.ts';
import { frontierRulesContract } from './frontier-rules.contract.ts';
import { reuseContract } from './reuse.contract.ts';

/** The contract of every crawl store. */
export function crawlStoreContract(fixture: CrawlStoreFixture): void {
  describe('the frontier', () => frontierContract(fixture));
  describe("the frontier's rules", () => frontierRulesContract(fixture));
  describe('reuse by the next export', () => reuseContract(fixture));
  describe('the bundle and the report', () => bundleContract(fixture));
}
