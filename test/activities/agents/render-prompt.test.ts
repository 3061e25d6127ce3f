import { renderPrompt } from '../../../activities/agents/render-prompt.ts';
import { MAX_PROMPT_CHARACTERS } from '../../../contract/admin-api.ts';
import type { PublishEvent } from '../../../contract/publish-event.ts';
import fc, { anyCharacter } from '../../helpers/fast-check.ts';

function event(fields: Partial<PublishEvent> = {}): PublishEvent {
  const at = '2026-11-21T08:00:00Z';
  const base = {
    source: 'test',
    topic: 't',
    action: 'publish',
    id: 'e1',
    title: 'Start',
    url: '',
    author: '',
    at,
  } as const;
  return { ...base, ...fields };
}

describe('a prompt', () => {
  it('names the newest event, and all of them oldest first', () => {
    const template = '{{ eventCount }}: {{ event.title }}\n{{#events}}\n- {{ title }}\n{{/events}}';
    const events = [event({ title: 'One' }), event({ title: 'Two' }), event({ title: 'Three' })];
    expect(renderPrompt(template, events, 3)).toBe('3: Three\n- One\n- Two\n- Three\n');
  });

  it.each([
    '{{ event.url }}',
    '{{#events}}{{/events}}',
    '{{> partial }}',
    '{{=<% %>=}}',
    '<script>alert("&amp;")</script>',
    '$(rm -rf /) `id` ; \' " \\ \r\nBcc: eve@example.com',
    '\0\u202e right to left \ud83d\ude00',
    `\${process.env.SECRET}`,
  ])('contains the value %j unchanged', (title) => {
    expect(renderPrompt('<{{ event.title }}>', [event({ title })], 1)).toBe(`<${title}>`);
    expect(renderPrompt('{{#events}}<{{ title }}>{{/events}}', [event({ title })], 1)).toBe(`<${title}>`);
  });

  it('contains any value unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (title) => {
        expect(renderPrompt('a {{ event.title }} z', [event({ title })], 1)).toBe(`a ${title} z`);
      }),
    );
  });

  it('has access only to the fields of events', () => {
    const template = '[{{ constructor }}{{ event.constructor }}{{ toString }}{{ event.agentsOwn }}{{ __proto__.x }}]';
    expect(renderPrompt(template, [event({ agentsOwn: true })], 1)).toBe('[]');
  });

  it('reports how many older events are not listed, but only if the template has a list', () => {
    const events = [event({ title: 'Newer' }), event({ title: 'Newest' })];
    expect(renderPrompt('{{#events}}{{ title }};{{/events}}', events, 7)).toBe(
      'Newer;Newest;\n\n(5 older events are not listed here.)',
    );
    expect(renderPrompt('{{ event.title }}', events, 7)).toBe('Newest');
  });

  it('leaves out the oldest events if it would be too long', () => {
    const events = Array.from({ length: 200 }, (_, index) => event({ title: `${index} ${'x'.repeat(1_000)}` }));
    const prompt = renderPrompt('{{#events}}{{ title }}\n{{/events}}', events, 200);
    expect(prompt.length).toBeLessThanOrEqual(MAX_PROMPT_CHARACTERS);
    expect(prompt.length).toBeGreaterThan(MAX_PROMPT_CHARACTERS - 2_000);
    const [, left] = /\((\d+) older events are not listed here\.\)$/.exec(prompt) ?? [];
    expect(prompt.startsWith(`${left} x`)).toBe(true);
    expect(prompt).toContain('199 x');
  });

  it('is truncated at a whole character, with a note, if it is too long by itself', () => {
    for (const shift of ['', 'y']) {
      const prompt = renderPrompt(`${shift}${'😀'.repeat(60_000)}`, [event()], 1);
      expect(prompt.length).toBeLessThanOrEqual(MAX_PROMPT_CHARACTERS);
      expect(prompt).toMatch(/😀\n\n\(Cut: the text was 12000\d characters long\.\)$/);
    }
  });

  it('is never longer than the limit of the Admin API', () => {
    const lengths = fc.array(fc.nat(60_000), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lengths, fc.nat(99_999), fc.nat(1_000), (titles, template, more) => {
        const events = titles.map((length) => event({ title: 'é'.repeat(length) }));
        const text = `${'t'.repeat(template)}{{#events}}{{ title }}{{/events}}`;
        expect(renderPrompt(text, events, events.length + more).length).toBeLessThanOrEqual(MAX_PROMPT_CHARACTERS);
      }),
      { numRuns: 50 },
    );
  });
});
