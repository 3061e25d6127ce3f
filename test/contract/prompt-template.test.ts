import { checkPromptTemplate } from '../../contract/prompt-template.ts';

describe('the check of a prompt template', () => {
  it.each([
    'Update the changelog for {{ event.title }} ({{ event.url }}).',
    'No variable at all, and { braces } alone.',
    '{{{ event.title }}} and {{& event.author }}',
    '{{#events}}- {{ title }} by {{ author }}, after {{ event.title }}\n{{/events}}',
    '{{^event.author}}by nobody{{/event.author}}{{#event.author}}by {{ . }}{{/event.author}}',
    '{{#event}}{{ title }} {{ at }}{{/event}}',
    '{{! a remark about {{ anything }}Do it',
    '{{=<% %>=}}<% event.title %> and {{ this is text }}',
    '{{ eventCount }} events',
  ])('accepts %j', (template) => {
    expect(checkPromptTemplate(template)).toBeNull();
  });

  it.each([
    ['{{ event.titel }}', 'unknown variable {{ event.titel }}: did you mean {{ event.title }}?'],
    ['{{ Event.title }}', 'did you mean {{ event.title }}?'],
    ['{{ evnts }}', 'did you mean'],
    ['{{ title }}', 'unknown variable {{ title }}'],
    ['{{ secret }}', 'expected one of eventCount, events, event, event.source'],
    ['{{ event.agentsOwn }}', 'unknown variable'],
    ['{{ event.title.length }}', 'unknown variable'],
    ['{{ event.constructor }}', 'unknown variable'],
    ['{{ constructor.name }}', 'unknown variable'],
    ['{{ . }}', 'unknown variable {{ . }}'],
    ['{{#events}}{{ . }}{{/events}}', 'unknown variable {{ . }}'],
    ['{{#events}}{{ titl }}{{/events}}', 'did you mean {{ title }}?'],
    ['{{#evens}}x{{/evens}}', 'did you mean {{ events }}?'],
    ['{{ event }}', '{{ event }} is no text: expected one of its fields, such as {{ event.title }}'],
    ['{{ events }}', 'such as {{#events}}{{ title }}{{/events}}'],
    ['   ', 'nothing would be left'],
    ['{{! only a remark }}\n', 'nothing would be left'],
    ['{{> other }}', 'there are no partials'],
    ['{{#events}}', 'Unclosed section "events"'],
    ['{{ event.title', 'Unclosed tag'],
    ['{{#events}}{{/event}}', 'Unclosed section'],
  ])('says of %j what is wrong', (template, message) => {
    expect(checkPromptTemplate(template)).toContain(message);
  });
});
