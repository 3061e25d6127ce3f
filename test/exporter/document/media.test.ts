import { readMarks, referencesOf, resourcesOf, rewritten } from './engine.ts';

const hls = (text: string) => ({ text, type: 'application/vnd.apple.mpegurl', url: '/v/master.m3u8' });
const dash = (text: string) => ({ text, type: 'application/dash+xml', url: '/v/a.mpd' });
const vtt = (text: string) => ({ text, type: 'text/vtt', url: '/v/thumbs.vtt' });

describe('an HLS playlist', () => {
  it('leads to playlists, segments, keys and all else that a tag names', () => {
    const { before, after } = readMarks(
      [
        '#EXTM3U\r',
        '# a comment: URI="no.ts"',
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="«/audio/de.m3u8→../audio/de.m3u8»"',
        '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"',
        'low/index.m3u8\r',
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="«https://docs.example.com/v/i.m3u8→i.m3u8»"',
        '#EXT-X-KEY:METHOD=AES-128,URI="key.bin",IV=0x1',
        '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x"',
        '#EXT-X-MAP:URI="init.mp4",BYTERANGE="1@0"',
        '#EXTINF:4,',
        '«//cdn.example.org/seg1.ts→../_external/cdn.example.org/seg1.ts»',
        '',
        'seg 2.ts',
      ].join('\n'),
    );
    expect(referencesOf(hls(before))).toEqual([
      ...['asset /audio/de.m3u8', 'asset /v/low/index.m3u8', 'asset /v/i.m3u8', 'asset /v/key.bin'],
      ...['asset /v/init.mp4', 'asset https://cdn.example.org/seg1.ts', 'asset /v/seg%202.ts'],
    ]);
    expect(rewritten(hls(before))).toBe(after.replace('seg 2.ts', 'seg%202.ts'));
  });

  it('has variables in its URLs', () => {
    const text = '#EXTM3U\n#EXT-X-DEFINE:NAME="q",VALUE="low"\n#EXTINF:4,\n{$q}/1.ts';
    expect(referencesOf(hls(text))).toEqual(['asset /v/low/1.ts']);
    expect(rewritten(hls(text))).toBe(text.replace('{$q}', 'low'));
  });

  it('is recognized by its name if its type says nothing', () => {
    expect(referencesOf({ text: '#EXTM3U\na.ts', type: 'text/plain', url: '/v/x.m3u8' })).toEqual(['asset /v/a.ts']);
  });
});

describe('a DASH manifest', () => {
  const segmentsOf = (text: string) => resourcesOf(dash(text), 'probe').map((each) => each.replace('probe /v/', ''));
  const period = (content: string, attributes = '') =>
    `<?xml version="1.0"?><MPD mediaPresentationDuration="PT1M1.5S"><Period ${attributes}>${content}</Period></MPD>`;
  const template = (attributes: string, content = '') =>
    period(
      `<AdaptationSet><SegmentTemplate ${attributes}>${content}</SegmentTemplate><Representation id="low" bandwidth="5"/></AdaptationSet>`,
    );

  it('has segments by number, as many as last for its duration', () => {
    const text = template(
      'timescale="10" duration="200" startNumber="2" initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number%03d$-$Bandwidth$.m4s"',
    );
    expect(segmentsOf(text)).toEqual(['low/init.mp4', ...['002', '003', '004', '005'].map((n) => `low/${n}-5.m4s`)]);
    expect(rewritten(dash(text))).toBe(text);
  });

  it('has segments by time, with repetitions', () => {
    const text = template(
      'timescale="10" media="t$Time$$$.m4s"',
      '<SegmentTimeline><S t="100" d="20" r="1"/><S d="30"/><S d="200" r="-1"/></SegmentTimeline>',
    );
    expect(segmentsOf(text)).toEqual([100, 120, 140, 170, 370, 570].map((time) => `t${time}$.m4s`));
  });

  it('has a template in each representation, with what it inherits, and several periods', () => {
    const text =
      '<MPD mediaPresentationDuration="PT30S"><BaseURL>d/</BaseURL><Period duration="PT10S"><SegmentTemplate duration="10"/>' +
      '<AdaptationSet><Representation id="a"><BaseURL>e/</BaseURL><SegmentTemplate media="$Number$.m4s"/></Representation></AdaptationSet></Period>' +
      '<Period><AdaptationSet><SegmentTemplate duration="10" media="$RepresentationID$$Number$.m4s"/><Representation id="b"/></AdaptationSet></Period></MPD>';
    expect(segmentsOf(text)).toEqual(['d/e/1.m4s', 'd/b1.m4s', 'd/b2.m4s']);
  });

  it('has files, lists and folders, which become relative', () => {
    const { before, after } = readMarks(
      period(
        '<BaseURL>«https://docs.example.com/v/big/→big/»</BaseURL><AdaptationSet>' +
          '<Representation id="a"><BaseURL>«/w/a.mp4→../w/a.mp4»</BaseURL><SegmentBase indexRange="0-9"/></Representation>' +
          '<Representation id="b"><BaseURL>b.mp4</BaseURL></Representation>' +
          '<Representation id="c"><SegmentList><Initialization sourceURL="«/v/i.mp4→i.mp4»"/><SegmentURL media="1.m4s"/></SegmentList></Representation>' +
          '<Representation id="d"><SegmentTemplate duration="60" media="«/t/d/→../t/d/»$Number$.m4s"/></Representation></AdaptationSet>',
      ),
    );
    expect(referencesOf(dash(before))).toEqual(['folder /v/big/', 'asset /w/a.mp4', 'asset /v/i.mp4', 'folder /t/d/']);
    expect(resourcesOf(dash(before), 'probe')).toEqual([
      ...['probe /v/big/b.mp4', 'probe /v/big/1.m4s', 'probe /t/d/1.m4s', 'probe /t/d/2.m4s'],
    ]);
    expect(rewritten(dash(before))).toBe(after);
  });

  it('has a limited number of segments', () => {
    const text = template('timescale="1000000" duration="1" media="$Number$.m4s"');
    expect(segmentsOf(text)).toHaveLength(100_000);
  });

  it('is recognized by its name if it is served as XML', () => {
    expect(referencesOf({ ...dash(period('<BaseURL>/a.mp4</BaseURL>')), type: 'text/xml' })).toEqual(['asset /a.mp4']);
  });
});

describe('a WebVTT file', () => {
  it('leads to the images in its cues, and its text stays', () => {
    const { before, after } = readMarks(
      'WEBVTT\n\n00:00.000 --> 00:05.000\nsprite.jpg#xywh=0,0,10,10\n\n1\n00:05.000 --> 00:09.000 align:start\n' +
        '«https://docs.example.com/i/b.png→../i/b.png»#xywh=1\n\n00:09.000 --> 00:10.000\nSee /a.png\n\n' +
        '00:10.000 --> 00:11.000\n- file.png\nand more\n\n00:11.000 --> 00:12.000\n/i/c.png',
    );
    expect(referencesOf(vtt(before))).toEqual(['guess /v/sprite.jpg', 'guess /i/b.png', 'guess /i/c.png']);
    expect(rewritten(vtt(before))).toBe(after.replace('\n/i/c.png', '\n../i/c.png'));
    expect(rewritten({ ...vtt(before), target: () => ({ missing: true }) })).toBe(before);
  });
});
