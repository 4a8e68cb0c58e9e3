/**
 * The Gatehouse SDK for browsers: joins a room over WebRTC or WebSocket, keeps the
 * session over lost connections, and gives a game what it needs to feel immediate:
 * its world, prediction of the own player, interpolation of all others.
 *
 *     import { join, Pacer } from '@gatehouse/web';
 *
 *     const room = await join({ room: 'arena', name: 'Ann', transport: 'auto' });
 *     room.on('spawn', (entity) => …);
 *     room.onEvent('damage', (e) => …);
 *     room.relay({ hello: 'all' });
 *
 * No function of it blocks, and none of its objects may be shared with a worker.
 *
 * @packageDocumentation
 */
export { join, type JoinOptions } from './join.js';
export { Room, type RoomEvents, type RoomState, type RoomStats } from './room.js';
export { Code, GatehouseError, codeName, codeText, isRetryable, type CodeName } from './codes.js';
export type { Limits, Peer, PeerNotice, RoomInfo } from './control.js';
export type { Dials, Fallback, TransportChoice } from './dialer.js';
export { DialError, type Dial, type DialOptions, type Link, type LinkEnd, type LinkHandler, type Transport } from './link.js';
export type { Lane } from './frame.js';
export { Entity } from './entity.js';
export { Schema, type EntityType, type Field } from './schema.js';
export { World, type Applied } from './world.js';
export { GameEvent, Message, RelayedMessage, type Payload } from './payload.js';
export type { Off } from './events.js';
export { Clock, Pacer } from './clock.js';
export { Predictor, type Point, type PredictorOptions, type Rule } from './predict.js';
export { Interpolator, type Blend, type Blends, type InterpolatorOptions, type Shown } from './interpolate.js';
