// The only door to the wire's types. They are inlined into the built declarations: installing the client brings no
// server package.
export type {
  ChangesInput,
  ChangesOutput,
  SyncErrorCode,
  WireChange,
  WireOperation,
  WireResyncReason,
} from '@tidemark/api/protocol'
