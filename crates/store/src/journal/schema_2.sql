-- A member who looks at their own calls does not go through everybody's. Nearly all calls are the owner's, and most lists
-- are of all calls: those need no index, and pay for none.
CREATE INDEX records_by_user ON records (user) WHERE kind = 'intent' AND user <> 'owner';
