import type { Page } from 'playwright-core';
import { waitFor } from '../../helpers/system/wait-for.ts';
import type { Generator } from './build-site.ts';
import type { Tour } from './visitor.ts';

const HAS_DARK_THEME = "document.documentElement.dataset.theme === 'dark'";

/** Repeats the click, because a click before hydration has no effect. */
const openPanel = async (page: Page): Promise<void> => {
  const panel = page.locator('#panel', { hasText: 'The panel is open' });
  const press = async (): Promise<boolean> => {
    await page.locator('#open').click();
    await panel.waitFor({ timeout: 3_000 });
    return true;
  };
  await waitFor(press, { describe: 'opened the panel' });
  await page.waitForFunction("document.querySelector('#panel img').naturalWidth > 0");
};

/** The tour through each site of test/fixtures. */
export const TOURS: Record<Generator, Tour> = {
  docusaurus: {
    heading: 'h1, article h2',
    stops: [
      ['/', 'Home'],
      ['/tools', 'Tools'],
      ['/docs/', 'Introduction'],
      ['/docs/guides', 'Guides'],
      ['/docs/guides/start', 'Start'],
      ['/docs/guides/more', 'More'],
      ['/docs/guides/über uns', 'Über uns'],
      ['/docs/reference/api', 'Interface'],
      ['/blog', 'Hello'],
      ['/blog/2026/01/02/hello', 'Hello'],
      ['/blog/tags/first', 'One post tagged with "first"'],
      ['/blog/tags', 'Tags'],
    ],
    deepLink: { from: '/docs/guides/start', to: ['/docs/guides/more', 'More'], hash: '#deep' },
    pager: {
      from: '/docs/guides/start',
      next: '.pagination-nav__link--next',
      previous: '.pagination-nav__link--prev',
      to: ['/docs/guides/more', 'More'],
    },
    hasRouter: true,
    // React enables the theme button when it has hydrated the page.
    isHydrated: "document.querySelector('.navbar button[class*=toggleButton]:not([disabled])') !== null",
    search: {
      word: 'needle',
      found: ['/docs/guides/more', 'More'],
      lookFor: async (page, word) => {
        await page.locator('.navbar__search-input').click();
        await page.locator('.navbar__search-input').fill(word);
        await page.locator('.navbar__search [class*=suggestion]').first().click();
      },
    },
    switchTheme: (page) => page.locator('.navbar button[class*=toggleButton]').click(),
    isDark: HAS_DARK_THEME,
    late: { path: '/tools', use: openPanel },
  },

  next: {
    heading: 'h1',
    stops: [
      ['/', 'Home'],
      ['/guides', 'Guides'],
      ['/guides/start', 'Start'],
      ['/guides/more', 'More'],
      ['/guides/über uns', 'Über uns'],
      ['/reference', 'Reference'],
      ['/tools', 'Tools'],
    ],
    deepLink: { from: '/guides/start', to: ['/guides/more', 'More'], hash: '#deep' },
    pager: { from: '/guides/start', next: 'a[rel=next]', previous: 'a[rel=prev]', to: ['/guides/more', 'More'] },
    hasRouter: true,
    isHydrated: "document.querySelector('#theme-switch:not([disabled])') !== null",
    search: {
      word: 'needle',
      found: ['/guides/more', 'More'],
      lookFor: async (page, word) => {
        await page.locator('#search').fill(word);
        await page.locator('.found').first().click();
      },
    },
    switchTheme: (page) => page.locator('#theme-switch').click(),
    isDark: HAS_DARK_THEME,
    late: { path: '/tools', use: openPanel },
  },

  starlight: {
    heading: 'h1',
    stops: [
      ['/', 'Home'],
      ['/guides/start/', 'Start'],
      ['/guides/more/', 'More'],
      ['/reference/api/', 'Interface'],
    ],
    deepLink: { from: '/guides/start/', to: ['/guides/more/', 'More'], hash: '#deep' },
    pager: {
      from: '/guides/start/',
      next: '.pagination-links a[rel=next]',
      previous: '.pagination-links a[rel=prev]',
      to: ['/guides/more/', 'More'],
    },
    hasRouter: false,
    isHydrated: "['site-search', 'starlight-theme-select'].every((name) => customElements.get(name) !== undefined)",
    search: {
      word: 'needle',
      found: ['/guides/more/', 'More'],
      lookFor: async (page, word) => {
        await page.locator('button[data-open-modal]').click();
        await page.locator('.pagefind-ui__search-input').fill(word);
        await page.locator('.pagefind-ui__result-link').first().click();
      },
    },
    switchTheme: async (page) => {
      await page.locator('starlight-theme-select select:visible').selectOption('dark');
    },
    isDark: HAS_DARK_THEME,
    late: { path: '/guides/more/', use: openPanel },
  },

  vitepress: {
    heading: '.vp-doc h1',
    stops: [
      ['/', 'Home'],
      ['/guides/start', 'Start'],
      ['/guides/more', 'More'],
      ['/guides/über uns', 'Über uns'],
      ['/reference/api', 'Interface'],
      ['/reference/', 'Reference'],
    ],
    deepLink: { from: '/guides/start', to: ['/guides/more', 'More'], hash: '#deep' },
    pager: {
      from: '/guides/start',
      next: '.pager-link.next',
      previous: '.pager-link.prev',
      to: ['/guides/more', 'More'],
    },
    hasRouter: true,
    isHydrated: "document.querySelector('#app')?.__vue_app__ !== undefined",
    hasFont: true,
    search: {
      word: 'needle',
      found: ['/guides/more', 'More'],
      lookFor: async (page, word) => {
        await page.locator('#local-search button').click();
        await page.locator('#localsearch-input').fill(word);
        await page.locator('.VPLocalSearchBox .result').first().click();
      },
    },
    switchTheme: (page) => page.locator('.VPSwitchAppearance:visible').first().click(),
    isDark: "document.documentElement.className === 'dark'",
  },
};
