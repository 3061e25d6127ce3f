import type { Only, WebhookSourceName, WebhookSources } from '../../contract/webhook-sources.ts';
import { contentfulSource } from './contentful.ts';
import { directusSource } from './directus.ts';
import { ghostSource } from './ghost.ts';
import { githubSource } from './github.ts';
import { hmacSource } from './hmac.ts';
import { hygraphSource } from './hygraph.ts';
import { kontentSource } from './kontent.ts';
import { chooseOnly } from './only.ts';
import { payloadSource } from './payload.ts';
import { prismicSource } from './prismic.ts';
import { sanitySource } from './sanity.ts';
import type { WebhookSource } from './source.ts';
import { standardSource } from './standard.ts';
import { storyblokSource } from './storyblok.ts';
import { strapiSource } from './strapi.ts';
import { tokenSource } from './token.ts';
import { webflowSource } from './webflow.ts';
import { woocommerceSource } from './woocommerce.ts';
import { wordpressSource } from './wordpress.ts';

export type ConfiguredSource = {
  name: WebhookSourceName;
  source: WebhookSource;
  /** Any of these may have signed. */
  secrets: readonly string[];
  /** The site's own window for resends, in milliseconds. */
  dedupeMs: number | undefined;
  /** The status for a delivery that was taken. */
  answer: 200 | 202;
};

/** The sources a site has configured, by the name that stands in the webhook's address. */
export function configuredSources(webhooks: WebhookSources): ReadonlyMap<string, ConfiguredSource> {
  const { standard, github, contentful, token, hmac } = webhooks;
  const { sanity, ghost, storyblok, hygraph, kontent } = webhooks;
  const { webflow, woocommerce, prismic, strapi, directus, payload, wordpress } = webhooks;
  const sources = [
    standard && configured('standard', standardSource(standard), standard),
    github && configured('github', githubSource(github), github),
    contentful && configured('contentful', contentfulSource(contentful), contentful),
    webflow && configured('webflow', webflowSource(webflow), webflow),
    woocommerce && configured('woocommerce', woocommerceSource(), woocommerce),
    prismic && configured('prismic', prismicSource(), prismic),
    strapi && configured('strapi', strapiSource(strapi), strapi),
    directus && configured('directus', directusSource(directus), directus),
    payload && configured('payload', payloadSource(payload), payload),
    wordpress && configured('wordpress', wordpressSource(wordpress), wordpress),
    sanity && configured('sanity', sanitySource(sanity), sanity),
    ghost && configured('ghost', ghostSource(ghost), ghost),
    storyblok && configured('storyblok', storyblokSource(), storyblok),
    hygraph && configured('hygraph', hygraphSource(hygraph), hygraph),
    kontent && configured('kontent', kontentSource(), kontent),
    token && configured('token', tokenSource(token), token),
    hmac && configured('hmac', hmacSource(hmac), hmac),
  ];
  return new Map(sources.flatMap((each) => (each === undefined ? [] : [[each.name, each]])));
}

type Settings = {
  secret: string | readonly string[];
  dedupe?: number | undefined;
  only?: Only | undefined;
  answer?: 200 | 202 | undefined;
};

function configured(
  name: WebhookSourceName,
  source: WebhookSource,
  { secret, dedupe, only, answer = 202 }: Settings,
): ConfiguredSource {
  const choose = chooseOnly(only);
  return {
    name,
    source: { ...source, read: (request, body, delivery) => choose(source.read(request, body, delivery)) },
    secrets: [secret].flat(),
    dedupeMs: dedupe,
    answer,
  };
}
