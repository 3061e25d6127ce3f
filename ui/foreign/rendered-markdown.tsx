import MarkdownIt from 'markdown-it';
import { visibleText } from '../visible-text.ts';

/**
 * HTML in a text is shown as text, links lead only to http, https and mail addresses, and images are left out: the page
 * loads none, and a request for one would reveal who reads it.
 */
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true }).disable('image');
markdown.validateLink = (url) => /^(?:https?:|mailto:|#)/i.test(url);
markdown.renderer.rules.link_open = (tokens, index, options, _environment, renderer) => {
  tokens[index]?.attrSet('rel', 'nofollow noopener noreferrer');
  return renderer.renderToken(tokens, index, options);
};

/** Hidden characters are shown. */
export function RenderedMarkdown({ children }: { children: string }) {
  const markup = markdown.render(visibleText(children, { multiline: true }));
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: markup }} />;
}
