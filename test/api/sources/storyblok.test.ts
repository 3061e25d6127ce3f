import { expectToReadAnything, RECEIVED_AT, readerOf } from './source-reader.ts';

const read = readerOf('storyblok');

const story = (action: string, text = `The user ada@example.com ${action} the Story Hello (blog/hello)`) => ({
  text,
  action,
  space_id: 316761,
  story_id: 86063839668228,
  full_slug: 'blog/hello',
});

describe('a Storyblok story', () => {
  test.each([
    ['published', 'publish'],
    ['moved', 'publish'],
    ['unpublished', 'unpublish'],
    ['deleted', 'unpublish'],
  ])('that was %s is read as %s', (action, read_) => {
    expect(read(story(action))).toEqual({
      kind: 'publish',
      contentType: 'story',
      paths: ['blog/hello'],
      event: {
        source: 'storyblok',
        topic: action,
        action: read_,
        id: '86063839668228',
        title: 'Hello',
        url: 'https://app.storyblok.com/#/me/spaces/316761/stories/0/0/86063839668228',
        author: 'ada@example.com',
        at: RECEIVED_AT,
      },
    });
  });

  test.each([
    ['The user Ada L published the Story A (b) c (blog/a)\nhttps://app.storyblok.com/#/x', 'A (b) c', 'Ada L'],
    ['Something else happened\nhttps://app.storyblok.com/#/x', 'blog/hello', ''],
    ['', 'blog/hello', ''],
  ])('described as %j has the title %s and the author "%s"', (text, title, author) => {
    expect(read(story('published', text))).toMatchObject({ event: { title, author } });
  });
});

describe('a Storyblok event', () => {
  const space_id = 316761;
  test.each([
    ['story', { action: 'deleted', text: 'Gone', story_id: 1 }, { id: '1', action: 'unpublish' }],
    ['asset', { action: 'replaced', text: 'Asset replaced', asset_id: 7 }, { id: '7', action: 'publish' }],
    ['asset', { action: 'restored', text: 'Asset restored', asset_id: 7 }, { id: '7', action: 'publish' }],
    ['asset', { action: 'deleted', text: 'Asset deleted', asset_id: 7 }, { id: '7', action: 'unpublish' }],
    [
      'datasource',
      { action: 'entries_updated', text: 'Saved', datasource_slug: 'menu' },
      { id: 'menu', title: 'Saved' },
    ],
    ['datasource', { action: 'datasource_entry_saved', datasource_slug: 'menu' }, { id: 'menu', action: 'publish' }],
    ['release', { action: 'merged', text: 'The release Summer has been merged.', release_id: 3 }, { id: '3' }],
    ['release', { action: 'release_merged', text: 'The release Summer has been merged.', release_id: 3 }, { id: '3' }],
    ['release', { text: 'The release Summer has been merged.', release_id: 3 }, { topic: '', action: 'publish' }],
    ['pipeline', { action: 'deployed', text: 'The branch Live has been deployed.', branch_id: 5 }, { id: '5' }],
    ['pipeline', { action: 'branch_deployed', branch_id: 5 }, { id: '5', title: '5', url: '' }],
    [undefined, { action: 'something_new' }, { id: 'delivery-1', action: 'publish' }],
  ])('of the kind %s (%j) publishes', (contentType, body, event) => {
    expect(read({ ...body, space_id })).toMatchObject({ kind: 'publish', ...(contentType && { contentType }), event });
  });

  test.each([
    ['created', { asset_id: 7 }],
    ['created', { discussion_id: 8 }],
    ['saved', { story_id: 1, full_slug: 'home' }],
    ['comment_created', { discussion_id: 8, story_id: 1 }],
    ['comment_updated', { discussion_id: 8, story_id: 1 }],
    ['comment_deleted', { discussion_id: 8, story_id: 1 }],
    ['resolved', { discussion_id: 8, story_id: 1 }],
    ['added', { user_id: 9 }],
    ['removed', { user_id: 9 }],
    ['roles_updated', { user_id: 9 }],
    ['stage.changed', { story_id: 1, workflow_stage_name: 'Reviewing' }],
    ['workflow_stage_changed', { story_id: 1, workflow_stage_name: 'Reviewing' }],
  ])('"%s" %j is filtered', (action, body) => {
    expect(read({ action, ...body, space_id })).toEqual({
      kind: 'filtered',
      topic: action,
      why: expect.stringMatching(/ /),
    });
  });

  test('is no other than its own word', () => {
    for (const action of ['constructor', '__proto__', 'toString']) expect(read({ action }).kind).toBe('publish');
  });

  test('is chosen by action, by kind and by the path of its story', () => {
    const only = (choice: object) => readerOf('storyblok', { only: choice })(story('published'));
    expect(only({ topic: 'unpublished' })).toMatchObject({ why: 'only.topic' });
    expect(only({ contentType: 'datasource' })).toMatchObject({ why: 'only.contentType' });
    expect(only({ path: '/docs/**' })).toMatchObject({ why: 'only.path' });
    expect(only({ topic: '*published', contentType: 'story', path: '/blog/**' }).kind).toBe('publish');
  });

  test('is read whatever it holds', () => {
    expectToReadAnything(read, ['action', 'text', 'story_id', 'space_id', 'full_slug', 'asset_id', 'release_id']);
  });
});
