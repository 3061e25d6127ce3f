import type { WebhookSourceName, WebhookSources } from '../../contract/webhook-sources.ts';
import type { Sender } from './sender.ts';
import { contentfulSender } from './senders/contentful.ts';
import { directusSender } from './senders/directus.ts';
import { ghostSender } from './senders/ghost.ts';
import { githubSender } from './senders/github.ts';
import { hmacSender } from './senders/hmac.ts';
import { hygraphSender } from './senders/hygraph.ts';
import { kontentSender } from './senders/kontent.ts';
import { payloadSender } from './senders/payload.ts';
import { prismicSender } from './senders/prismic.ts';
import { sanitySender } from './senders/sanity.ts';
import { standardSender } from './senders/standard.ts';
import { storyblokSender } from './senders/storyblok.ts';
import { strapiSender } from './senders/strapi.ts';
import { tokenSender } from './senders/token.ts';
import { webflowSender } from './senders/webflow.ts';
import { woocommerceSender } from './senders/woocommerce.ts';
import { wordpressSender } from './senders/wordpress.ts';

const SENDERS: { [Name in WebhookSourceName]: (settings: NonNullable<WebhookSources[Name]>) => Sender } = {
  standard: standardSender,
  github: githubSender,
  contentful: contentfulSender,
  sanity: () => sanitySender,
  ghost: () => ghostSender,
  storyblok: () => storyblokSender,
  hygraph: () => hygraphSender,
  kontent: () => kontentSender,
  webflow: () => webflowSender,
  woocommerce: () => woocommerceSender,
  prismic: () => prismicSender,
  strapi: strapiSender,
  directus: directusSender,
  payload: payloadSender,
  wordpress: wordpressSender,
  token: tokenSender,
  hmac: hmacSender,
};

/** The sender that stands in for a source as a site has configured it. */
export function senderOf<Name extends WebhookSourceName>(
  name: Name,
  settings: NonNullable<WebhookSources[Name]>,
): Sender {
  return SENDERS[name](settings);
}
