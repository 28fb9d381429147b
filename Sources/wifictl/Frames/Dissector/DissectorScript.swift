import FrameCodec

/// The Wireshark dissector that `wifictl dissector` prints: Lua 5.2, for Wireshark and tshark 3.4 and later.
///
/// It is put together of three parts: what the user can set, frames over TCP, and discovery over UDP.
struct DissectorScript {
    let layout: FrameLayout
    /// The largest body that isn't taken for an error, in bytes.
    let limit: Int
    /// The port of both TCP and UDP.
    let port: UInt16

    /// The whole script.
    var text: String { [settings, Self.frames, Self.discovery].joined(separator: "\n") }

    private var layoutIndex: Int {
        switch layout {
        case .standard: 0
        case .littleEndian: 1
        case .asciiLength: 2
        }
    }

    private var settings: String {
        """
        -- Wireshark dissector for router frames (TCP) and router discovery (UDP), port \(port).
        -- Printed by: wifictl dissector
        -- Use it once:  wireshark -X lua_script:FILE       or put it into the folder of personal Lua plugins
        --               (Help > About Wireshark > Folders).
        -- Filters:      wififrame  wififrame.kind == "receipt"  wififrame.receipt_in  wififrame.bad_header  wifidisc.kind
        -- If packets may have been captured out of order, set "Reassemble out-of-order segments" for TCP.

        local frames = Proto("wififrame", "Wi-Fi Router Frames")
        local discovery = Proto("wifidisc", "Wi-Fi Router Discovery")

        local STANDARD, LITTLE_ENDIAN, ASCII_LENGTH = 0, 1, 2
        local HEADER = 10

        frames.prefs.layout = Pref.enum("Header layout", \(layoutIndex), "How the header's numbers are written", {
            { 1, "standard", STANDARD }, { 2, "littleEndian", LITTLE_ENDIAN }, { 3, "asciiLength", ASCII_LENGTH },
        }, false)
        frames.prefs.limit = Pref.uint("Largest body", \(limit), "A header that declares more bytes is an error")
        frames.prefs.ports = Pref.range("TCP ports", "\(port)", "Streams of these ports are cut into frames", 65535)
        discovery.prefs.ports = Pref.range("UDP ports", "\(port)", "Datagrams of these ports are taken for discovery", 65535)

        -- JSON only where a body begins like an object or an array. The JSON dissector writes into the columns, so that ours
        -- are filled after it.
        local json = Dissector.get("json")
        local function show_body(field, range, pinfo, tree)
            local item = tree:add(field, range)
            local first = range(0, 1):uint()
            if first == 0x7b or first == 0x5b then
                json:call(range:tvb(), pinfo, item)
            end
        end

        local function preview(range)
            local text = range(0, math.min(range:len(), 60)):raw():gsub("[^\\32-\\126]", ".")
            return range:len() > 60 and text .. "..." or text
        end

        """
    }

    private static let frames = #"""
        local f = {
            msgid = ProtoField.uint32("wififrame.msgid", "Message id"),
            version = ProtoField.uint16("wififrame.version", "Version"),
            length = ProtoField.uint32("wififrame.len", "Body length"),
            kind = ProtoField.string("wififrame.kind", "Kind"),
            body = ProtoField.bytes("wififrame.body", "Body"),
            receipt_in = ProtoField.framenum("wififrame.receipt_in", "Receipt in", base.NONE, frametype.RESPONSE),
            receipt_to = ProtoField.framenum("wififrame.receipt_to", "Receipt for the message in", base.NONE, frametype.REQUEST),
            receipt_time = ProtoField.relative_time("wififrame.receipt_time", "Time to the receipt"),
            sent_before = ProtoField.framenum("wififrame.sent_before", "Sent before in", base.NONE, frametype.RETRANS_PREV),
        }
        frames.fields = { f.msgid, f.version, f.length, f.kind, f.body, f.receipt_in, f.receipt_to, f.receipt_time, f.sent_before }

        local bad_header = ProtoExpert.new(
            "wififrame.bad_header", "Header that can't be right", expert.group.MALFORMED, expert.severity.ERROR)
        local stray_receipt = ProtoExpert.new(
            "wififrame.stray_receipt", "Receipt for a message that wasn't seen", expert.group.SEQUENCE, expert.severity.NOTE)
        local after_error = ProtoExpert.new(
            "wififrame.after_error", "Can't be cut: a header before was bad", expert.group.UNDECODED, expert.severity.WARN)
        frames.experts = { bad_header, stray_receipt, after_error }

        -- What the first pass learns. Packets are shown in any order later, so it's looked up by packet number then.
        -- A direction is known by its addresses and ports alone: TCP's stream number isn't there yet on the first pass. When
        -- a connection uses the ports of an earlier one again, its hello makes the direction new.
        local directions, shown, behind, tls

        function frames.init()
            directions, shown, behind, tls = {}, {}, {}, {}
        end

        local function direction(name)
            directions[name] = directions[name] or { sent = {} }
            return directions[name]
        end

        -- Gives msgId, version, length, or a fourth value that says what is wrong. Checked in the order of the protocol.
        local function read_header(range)
            local layout = frames.prefs.layout
            local little = layout == LITTLE_ENDIAN
            local msgid = little and range(0, 4):le_uint() or range(0, 4):uint()
            local version = little and range(4, 2):le_uint() or range(4, 2):uint()
            local length
            if layout == ASCII_LENGTH then
                local digits = range(6, 4):raw():match("^ *(%d+)[ %z]*$")
                length = digits and tonumber(digits)
            else
                length = little and range(6, 4):le_uint() or range(6, 4):uint()
            end
            if version == 0 then return msgid, version, length, "Version 0 is none" end
            if not length then return msgid, version, 0, "The length is no number" end
            if length > frames.prefs.limit then
                return msgid, version, length, "A body of " .. length .. " bytes is over the limit of " .. frames.prefs.limit
            end
            return msgid, version, length
        end

        local function show_header(range, tree, msgid, version, length)
            tree:add(f.msgid, range(0, 4), msgid)
            tree:add(f.version, range(4, 2), version)
            tree:add(f.length, range(6, 4), length)
        end

        local function kind_of(msgid, length)
            if msgid ~= 0 then return length > 0 and "message" or "receipt" end
            return length > 0 and "fire-and-forget" or "heartbeat"
        end

        -- First pass: remembers a message, or which message a receipt is for.
        local function learn(kind, msgid, pinfo, own, other)
            local here = pinfo.number .. ":" .. own .. ":" .. msgid .. ":" .. kind
            if shown[here] then return end
            if kind == "message" then
                local before = direction(own).sent[msgid]
                local message = { number = pinfo.number, time = pinfo.abs_ts }
                -- The same id again before its receipt is the same message; later it's a new one after the ids have run out.
                if before and not before.receipt then message.before = before.number end
                direction(own).sent[msgid] = message
                shown[here] = message
            elseif kind == "receipt" then
                local message = direction(other).sent[msgid]
                if message and not message.receipt then
                    message.receipt = pinfo.number
                    message.waited = pinfo.abs_ts - message.time
                end
                shown[here] = message
            end
        end

        local function show_links(kind, msgid, pinfo, own, tree)
            local message = shown[pinfo.number .. ":" .. own .. ":" .. msgid .. ":" .. kind]
            if kind == "message" and message then
                if message.before then tree:add(f.sent_before, message.before):set_generated() end
                if message.receipt then tree:add(f.receipt_in, message.receipt):set_generated() end
            elseif kind == "receipt" then
                if message then
                    tree:add(f.receipt_to, message.number):set_generated()
                    if message.receipt == pinfo.number then
                        local whole = math.floor(message.waited)
                        local waited = NSTime.new(whole, math.floor((message.waited - whole) * 1e9 + 0.5))
                        tree:add(f.receipt_time, waited):set_generated()
                    end
                else
                    tree:add_proto_expert_info(stray_receipt)
                end
            end
        end

        local function show_frame(range, pinfo, tree, msgid, version, length, own, other)
            local kind = kind_of(msgid, length)
            local item = tree:add(frames, range)
            local title = kind .. (msgid ~= 0 and " " .. msgid or "")
            item:append_text(": " .. title)
            item:add(f.kind, range, kind):set_generated()
            show_header(range, item, msgid, version, length)
            if not pinfo.visited then learn(kind, msgid, pinfo, own, other) end
            show_links(kind, msgid, pinfo, own, item)
            if length > 0 then
                local body = range(HEADER, length)
                title = title .. " " .. preview(body)
                show_body(f.body, body, pinfo, item)
            end
            return title
        end

        local function show_error(range, tree, msgid, version, length, complaint)
            local item = tree:add(frames, range)
            item:append_text(": bad header")
            if range:len() >= HEADER then show_header(range, item, msgid, version, length) end
            item:add_proto_expert_info(bad_header, complaint)
        end

        -- Cuts what is there; asks TCP for more when a frame isn't whole. Gives the titles of the frames.
        local function cut(tvb, pinfo, tree, own, other, state)
            local titles, offset = {}, 0
            while offset < tvb:len() do
                local left = tvb:len() - offset
                local need = HEADER
                if left >= HEADER then
                    local msgid, version, length, complaint = read_header(tvb(offset, HEADER))
                    if complaint then
                        if not pinfo.visited then state.bad = state.bad or pinfo.number end
                        show_error(tvb(offset), tree, msgid, version, length, complaint)
                        table.insert(titles, "bad header")
                        return titles
                    end
                    need = HEADER + length
                    if left >= need then
                        local range = tvb(offset, need)
                        table.insert(titles, show_frame(range, pinfo, tree, msgid, version, length, own, other))
                    end
                end
                if left < need then
                    pinfo.desegment_offset = offset
                    pinfo.desegment_len = left < HEADER and DESEGMENT_ONE_MORE_SEGMENT or need - left
                    return titles
                end
                offset = offset + need
            end
            return titles
        end

        local function is_hello(tvb)
            local intro = '{"hello":'
            return tvb:len() >= HEADER + #intro and tvb(0, 4):uint() == 0 and tvb(HEADER, #intro):raw() == intro
        end

        local function is_tls(tvb)
            if tvb:len() < 3 then return false end
            local kind, major, minor = tvb(0, 1):uint(), tvb(1, 1):uint(), tvb(2, 1):uint()
            return kind >= 20 and kind <= 24 and major == 3 and minor <= 4
        end

        function frames.dissector(tvb, pinfo, tree)
            local own = pinfo.src_port .. " " .. tostring(pinfo.src) .. " > " .. tostring(pinfo.dst) .. " " .. pinfo.dst_port
            local other = pinfo.dst_port .. " " .. tostring(pinfo.dst) .. " > " .. tostring(pinfo.src) .. " " .. pinfo.src_port
            if not pinfo.visited then
                if is_hello(tvb) then directions[own] = nil end
                local state = direction(own)
                if state.tls == nil then state.tls = is_tls(tvb) end
                tls[pinfo.number] = state.tls
                if state.bad and pinfo.number > state.bad then behind[pinfo.number] = state.bad end
            end
            if tls[pinfo.number] then return Dissector.get("tls"):call(tvb, pinfo, tree) end
            if behind[pinfo.number] then
                local item = tree:add(frames, tvb())
                item:add_proto_expert_info(after_error, "Can't be cut: the header in packet " .. behind[pinfo.number] .. " was bad")
                pinfo.cols.protocol = "FRAME"
                pinfo.cols.info = "behind a bad header"
                return tvb:len()
            end
            local titles = cut(tvb, pinfo, tree, own, other, direction(own))
            pinfo.cols.protocol = "FRAME"
            if #titles > 0 then pinfo.cols.info = table.concat(titles, " | ") end
            return tvb:len()
        end

        """#
}
