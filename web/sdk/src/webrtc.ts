import { isRetryable } from './codes.js';
import { DialError, Inbox, unreliableBacklog, type Dial, type DialOptions, type Link, type LinkHandler } from './link.js';
import type { Lane } from './frame.js';

/**
 * Opens a WebRTC link: two negotiated data channels, one POST of the offer. It
 * does not wait for its own candidates: the server is reachable and learns this
 * end's addresses as its packets arrive.
 */
export const dialWebRTC: Dial = async (options) => {
  if (typeof RTCPeerConnection === 'undefined') {
    throw new DialError('webrtc', 'this browser has no WebRTC, or it is switched off');
  }
  const pc = new RTCPeerConnection();
  const link = new WebRTCLink(pc);
  const given = giveUp(options);
  try {
    await Promise.race([connect(pc, link, options), given.up]);
    return link;
  } catch (e) {
    link.close();
    throw e instanceof DialError ? e : new DialError('webrtc', e instanceof Error ? e.message : String(e));
  } finally {
    given.stop();
  }
};

async function connect(pc: RTCPeerConnection, link: WebRTCLink, options: DialOptions): Promise<void> {
  await pc.setLocalDescription(await pc.createOffer());
  const answer = await postOffer(options, pc.localDescription?.sdp ?? '');
  link.resource = answer.location;
  await pc.setRemoteDescription({ type: 'answer', sdp: answer.sdp });
  await link.opened;
}

async function postOffer(options: DialOptions, sdp: string): Promise<{ sdp: string; location: URL | undefined }> {
  const headers: Record<string, string> = { 'Content-Type': 'application/sdp' };
  if (options.token) headers.Authorization = `Bearer ${options.token}`;
  const address = new URL('v1/rtc', options.url);
  let response: Response;
  try {
    response = await fetch(address, { method: 'POST', headers, body: sdp, signal: options.signal });
  } catch {
    throw new DialError('webrtc', options.signal.aborted ? 'given up' : 'the server can not be reached');
  }
  if (response.status !== 201) throw await refusal(response);
  const location = response.headers.get('Location');
  return { sdp: await response.text(), location: location === null ? undefined : new URL(location, address) };
}

/** Reads why the server refused an offer. */
async function refusal(response: Response): Promise<DialError> {
  const problem = (await response.json().catch(() => ({}))) as { title?: unknown; detail?: unknown; code?: unknown };
  const why = [problem.detail, problem.title].find((v): v is string => typeof v === 'string' && v !== '');
  if (response.status === 404 && why === undefined) return new DialError('webrtc', 'the server does not offer WebRTC');
  const code = typeof problem.code === 'number' ? problem.code : undefined;
  // A terminal refusal is no matter of WebRTC: it stands for itself.
  if (code !== undefined && !isRetryable(code) && why !== undefined) return new DialError('webrtc', why, code);
  return new DialError('webrtc', `the server refused the offer: ${why ?? `status ${response.status}`}`, code);
}

/** A promise that rejects at the time-out, or when the caller has given up. */
function giveUp({ timeoutMs, signal }: DialOptions): { up: Promise<never>; stop: () => void } {
  let stop = (): void => {};
  const up = new Promise<never>((_, reject) => {
    const late = `no data channel within ${timeoutMs / 1000} s; a firewall may block UDP and TCP to the media port`;
    const timer = setTimeout(() => reject(new DialError('webrtc', late)), timeoutMs);
    const aborted = (): void => reject(new DialError('webrtc', 'given up'));
    signal.addEventListener('abort', aborted);
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
    };
  });
  return { up, stop };
}

class WebRTCLink implements Link {
  readonly transport = 'webrtc';
  /** Resolves when both channels are open, rejects when they never will be. */
  readonly opened: Promise<void>;
  /** Where the server keeps the offer, for DELETE. */
  resource: URL | undefined;

  private readonly inbox = new Inbox();
  private readonly reliable: RTCDataChannel;
  private readonly unreliable: RTCDataChannel;

  constructor(private readonly pc: RTCPeerConnection) {
    this.reliable = pc.createDataChannel('reliable', { negotiated: true, id: 0, ordered: true });
    this.unreliable = pc.createDataChannel('unreliable', { negotiated: true, id: 1, ordered: false, maxRetransmits: 0 });
    this.listen(this.reliable, 'reliable');
    this.listen(this.unreliable, 'unreliable');
    const opened = [this.reliable, this.unreliable].map(
      (channel) => new Promise<void>((resolve) => channel.addEventListener('open', () => resolve(), { once: true })),
    );
    this.opened = new Promise((resolve, reject) => {
      void Promise.all(opened).then(() => resolve());
      pc.addEventListener('connectionstatechange', () => {
        if (pc.connectionState !== 'failed' && pc.connectionState !== 'closed') return;
        reject(new DialError('webrtc', 'no path to the server, neither over UDP nor over TCP (ICE failed)'));
        this.inbox.ended({ reason: 'the connection was lost' });
      });
    });
    this.opened.catch(() => {}); // whoever dials awaits it, or has already given up
  }

  private listen(channel: RTCDataChannel, lane: Lane): void {
    channel.binaryType = 'arraybuffer';
    channel.onmessage = (e: MessageEvent<unknown>) => {
      if (e.data instanceof ArrayBuffer) this.inbox.message(lane, new Uint8Array(e.data));
    };
    channel.onclose = () => this.inbox.ended({ reason: 'the connection was closed' });
  }

  attach(handler: LinkHandler): void {
    this.inbox.attach(handler);
  }

  send(lane: Lane, message: Uint8Array): boolean {
    const channel = lane === 'reliable' ? this.reliable : this.unreliable;
    if (this.inbox.over || channel.readyState !== 'open') return false;
    if (lane === 'unreliable' && channel.bufferedAmount > unreliableBacklog) return false;
    channel.send(message as Uint8Array<ArrayBuffer>);
    return true;
  }

  close(): void {
    this.inbox.close();
    // Frames that were just sent (leave, close) need a moment to get out.
    setTimeout(() => this.pc.close(), this.reliable.bufferedAmount > 0 ? 250 : 0);
    if (this.resource === undefined || this.reliable.readyState !== 'connecting') return;
    // The server sees a connection end by itself; one that never began it would wait for.
    void fetch(this.resource, { method: 'DELETE', keepalive: true }).catch(() => {});
    this.resource = undefined;
  }
}
