/** Where a shipment stands, in the order of its life. */
export const shipmentStatuses = ['booked', 'collected', 'in_transit', 'delivered', 'cancelled'] as const

export type ShipmentStatus = (typeof shipmentStatuses)[number]

/** What a status may become. The server refuses every other step; plain SQL may do as it likes. */
export const nextStatuses: Readonly<Record<ShipmentStatus, readonly ShipmentStatus[]>> = {
  booked: ['collected', 'cancelled'],
  collected: ['in_transit', 'cancelled'],
  in_transit: ['delivered'],
  delivered: [],
  cancelled: [],
}

/** The statuses from which a shipment may become `status`. */
export function previousStatuses(status: ShipmentStatus): readonly ShipmentStatus[] {
  return shipmentStatuses.filter((from) => nextStatuses[from].includes(status))
}

/** What a person does to a shipment to bring it there. */
export const stepLabels: Readonly<Record<ShipmentStatus, string>> = {
  booked: 'Book',
  collected: 'Collect',
  in_transit: 'Depart',
  delivered: 'Deliver',
  cancelled: 'Cancel',
}

/** For people to read. */
export const statusLabels: Readonly<Record<ShipmentStatus, string>> = {
  booked: 'Booked',
  collected: 'Collected',
  in_transit: 'In transit',
  delivered: 'Delivered',
  cancelled: 'Cancelled',
}
